// Places for texts within a plot.
import { usable } from './format.mjs';
import { barAt, crossAt } from './plan.mjs';
import { rowOf, yOf } from './scale.mjs';

/** Room puts texts where they hide neither data nor marks nor each other. */
export class Room {
  constructor(p, pane, marks) {
    const rows = pane.price ? [p.data.close[p.newest], ...p.levels.map(l => l.price)].map(v => rowOf(pane.scale, v)) : [];
    const taken = marks.map(k => ({ x: k.x - k.w / 2, width: k.w, top: k.up ? k.tip : k.tip - k.h, height: k.h }));
    const { px } = p.m;
    if (pane.price) for (const l of p.levels.filter(l => l.movable)) taken.push({ x: crossAt(p) - px(9), width: px(18), top: rowOf(pane.scale, l.price) - px(9), height: px(18) });
    Object.assign(this, { p, pane, rows, taken, texts: [], height: p.m.mark + p.m.px(4) });
  }

  /** widthOf returns the width of a text. */
  widthOf = text => this.p.o.measure(text, this.p.m.mark, 500);

  /** put adds a text with its left end at x and its middle at row y, if that is free, and
   * reports whether it did; leader is the line that leads to it, if there is one. */
  put(text, ink, x, y, leader) {
    const { p: { m, axisX }, pane, height } = this;
    const box = { text, ink, x, y, width: this.widthOf(text), top: y - height / 2, height, leader };
    const inside = x >= m.px(2) && x + box.width <= axisX - m.px(2) && box.top >= pane.legendEnd && box.top + height <= pane.floor;
    // The gap is between the grounds of two texts.
    if (!inside || this.covers(box, m.px(5))) return false;
    this.taken.push(box, ...(leader ? [leader] : []));
    this.texts.push(box);
    return true;
  }

  /** covers reports whether a box lies over bars, lines, levels, or over marks and texts,
   * from whose sides it must stay away by a gap. A name stays further away from the price of
   * a wick, which alone has the ink text: it would be taken for that of the name. */
  covers({ x, width, top, height, ink }, gap = 0) {
    const { p, pane } = this;
    const touches = b => {
      const away = b.text && (b.ink === 'text') !== (ink === 'text') ? 4 * height : gap;
      return x < b.x + b.width + away && b.x < x + width + away && top < b.top + b.height && b.top < top + height;
    };
    if (this.taken.some(touches)) return true;
    const within = (a, b) => Math.min(a, b) < top + height && Math.max(a, b) > top;
    const row = v => yOf(pane.scale, v);
    if (this.rows.some(y => within(y, y))) return true;
    const last = barAt(p, x + width);
    for (let i = barAt(p, x); i <= last; i++) {
      if (pane.price && within(row(p.drawn.high[i]), row(p.drawn.low[i]))) return true;
      for (const st of pane.studies) {
        if (st.lines.some(l => usable(l.values[i]) && within(row(l.values[i]), row(l.values[i + 1] ?? l.values[i])))) return true;
        if (st.histogram.some(h => usable(h.values[i]) && within(row(0), row(h.values[i])))) return true;
      }
    }
    return false;
  }

  /** beyond puts a text below the end of a wick or a mark if side is 1, above it if side
   * is -1: in the middle, or shifted to either side, or a little further away. */
  beyond(text, ink, x, y, side) {
    const { m, axisX } = this.p;
    const width = this.widthOf(text);
    const lefts = [x - width / 2, x + m.px(8) - width, x - m.px(8)].map(left => Math.min(Math.max(left, m.px(2)), axisX - width - m.px(2)));
    const rows = [5, 13, 21, 29].map(away => y + side * (m.mark / 2 + m.px(away)));
    return rows.some(row => lefts.some(left => this.put(text, ink, left, row)));
  }

  /** beside puts a text to the right or left of what it names, which lies between two
   * columns and at row y, the nearest free place first and at most reach away. From some
   * distance on a dotted line leads to it. */
  beside(text, ink, [left, right], y, row, reach) {
    const { px, thin } = this.p.m;
    const width = this.widthOf(text);
    const sides = new Set([off => [right + off, right + px(5)], off => [left - off - width, left - off]]);
    for (let off = px(3); off < reach; off += px(8)) {
      for (const side of sides) {
        const [x, from] = side(off);
        const leader = off < px(10) ? undefined : { x: from, width: off - px(5), top: y, height: thin };
        if (leader && this.covers(leader)) sides.delete(side); // a longer line would be in the way, too
        else if (this.put(text, ink, x, row, leader)) return true;
      }
    }
    return false;
  }

  /** near puts a text at the free place nearest to a point, searching outwards. */
  near(text, ink, x, y) {
    const width = this.widthOf(text);
    const ring = d => [[0, -d], [0, d], [d, 0], [-width - d, 0], [-width / 2, -d], [-width / 2, d], [-width, -d], [-width, d]];
    const distances = Array.from({ length: 14 }, (_, i) => this.p.m.px(8 + 10 * i));
    return distances.some(d => ring(d).some(([dx, dy]) => this.put(text, ink, x + dx, y + dy)));
  }

  /** atEdge puts a text at the upper or the lower edge, as far right as there is room, or
   * where that is full a few rows further in, and reports whether there was room. */
  atEdge(text, ink, upper) {
    const { p: { m, axisX }, pane, height } = this;
    for (let row = 0.5; row <= 3; row += 0.5) {
      const y = upper ? pane.legendEnd + row * height : pane.floor - row * height;
      for (let x = axisX - this.widthOf(text) - m.px(2); x >= m.px(2); x -= m.px(6)) {
        if (this.put(text, ink, x, y)) return true;
      }
    }
    return false;
  }

  /** nameEnd puts a text above or below the line at a row, or so far off it, as far right
   * as there is room, but not left of from, and reports whether there was room. */
  nameEnd(text, ink, row, from = 0, off = 0) {
    const { m, axisX } = this.p;
    const away = (this.height + m.px(4)) / 2 + off;
    for (let x = axisX - this.widthOf(text) - m.px(2); text && x >= from; x -= m.px(12)) {
      if (this.put(text, ink, x, row - away) || this.put(text, ink, x, row + away)) return true;
    }
    return false;
  }

  /** nameAway is like nameEnd for a text that has no room at its line: up to three lines of
   * text away. If it must, it writes words in place of the text, cut as short as needed, with
   * numbers after them, which are never cut: a stop for 20 is not one for 2. */
  nameAway(text, ink, row, words, numbers) {
    const letters = [...words];
    for (let most = letters.length; ; ) {
      for (let off = 0; off <= 3 * this.height; off += this.height / 2) if (this.nameEnd(text, ink, row, 0, off)) return true;
      most = Math.floor((most * 2) / 3);
      if (most < 6) return false;
      // A stop_limit is not cut to a stop.
      text = (letters.slice(0, most - 1).join('') + '…').replace('stop…', '…') + numbers;
    }
  }
}
