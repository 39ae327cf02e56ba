// Writing on the canvas: axes with their ticks and tags, the header, the legends, and
// the crosshair.
import { axisText } from './axis.mjs';
import { fitting, headerParts, legendItems, sharedRows } from './legend.mjs';
import { backed, box, dashes, frame, stroke, through, write } from './pen.mjs';
import { barX, columnAt, plusAt } from './plan.mjs';
import { axisFormat, valueAt } from './scale.mjs';
import { dateText } from './times.mjs';

/** paintAxes draws the lines between panes and axes, the tick labels and the tags. */
export function paintAxes(p) {
  const { m, axisX, timeY } = p;
  for (const pane of p.panes) box(p, 'sep', 0, pane.y, m.w, m.thin);
  box(p, 'sep', 0, timeY, m.w, m.thin);
  box(p, 'sep', axisX, p.headerEnd, m.thin, timeY - p.headerEnd);
  const x = axisX + m.either(5, 8);
  for (const pane of p.panes) {
    for (const t of pane.ticks) if (t.shown) write(p, t.text, x, t.y, m.axis, 400, 'axis');
    for (const t of pane.tags) { // filled for prices and lines, outlined for levels
      const left = axisX + (t.moved ? m.px(6) : 0); // then a line leads to its row
      if (t.moved) stroke(p, t.ink, m.edge, [], through([[axisX, t.y + 0.5], [left, t.top + m.tagH / 2]]));
      box(p, t.outline ? 'back' : t.ink, left, t.top, m.w - left, m.tagH);
      if (t.outline) frame(p, t.ink, left, t.top, m.w - left, m.tagH, m.thin);
      write(p, t.text, t.moved ? left + m.px(3) : x, t.top + m.tagH / 2, m.tag, 500, t.outline ? t.ink : p.onTag[t.ink]);
    }
  }
  const y = timeY + m.timeH / 2 + m.thin;
  if (p.firstTime) write(p, p.firstTime.text, p.firstTime.x, y, m.axis, 700, 'text');
  for (const t of p.times) write(p, t.text, t.x, y, m.axis, t.strong ? 700 : 400, t.strong ? 'text' : 'axis');
}

/** paintHeader writes the header, leaving out the least important parts until the rest
 * fits. */
export function paintHeader(p) {
  const { m } = p;
  const [gap, y] = [m.px(12), m.headerH / 2];
  const fontOf = part => (part.badge ? [m.tag, 500] : part.strong ? [m.symbol, 700] : [m.legend, 400]);
  const width = part => p.o.measure(part.text, ...fontOf(part)) + (part.badge ? m.px(10) : 0);
  let parts = headerParts(p);
  while (parts.length > 1 && parts.reduce((sum, part) => sum + width(part) + gap, m.px(8)) > m.w) {
    const rank = Math.max(...parts.map(part => part.rank));
    parts = parts.filter(part => part.rank < rank);
  }
  let x = m.px(10);
  for (const part of parts) {
    if (part.right) x = m.w - width(part) - m.px(10);
    if (part.badge) box(p, part.ink, x, y - m.tagH / 2, width(part), m.tagH);
    write(p, part.text, x + (part.badge ? m.px(5) : 0), y, ...fontOf(part), part.badge ? p.onTag[part.ink] : part.ink);
    x += width(part) + gap;
  }
}

/** paintLegend writes the rows of a legend, and notes where the names of the studies are. The
 * last one also says how many items and how many marks had no room. */
export function paintLegend(p, pane) {
  const { m } = p;
  pane.names = [];
  const gap = m.px(12);
  const weight = item => (item.strong ? 500 : 400);
  const measure = (text, item) => p.o.measure(text, m.legend, weight(item));
  const widthOf = item => measure((item.sign ?? '') + item.text, item);
  const put = (item, x, y) => {
    const begin = item.sign ? measure(item.sign, item) : 0;
    if (item.sign) backed(p, item.sign, x, y, m.legend, weight(item), item.tone, begin);
    backed(p, item.text, x + begin, y, m.legend, weight(item), item.ink, widthOf(item) - begin);
    if (item.st) pane.names.push({ st: item.st, x, y, width: widthOf(item) });
  };
  const note = pane.unmarked > 0 ? { text: `${pane.unmarked} more not drawn`, ink: 'axis' } : undefined;
  const room = end => p.axisX - m.px(20) - (end && note ? widthOf(note) + gap : 0);
  const more = widthOf({ text: '+99' }) + gap;
  const { rows, left } = sharedRows(pane.studies.map(st => legendItems(p, pane, st)), pane.rows, end => room(end) - (end ? more : 0), gap, widthOf);
  rows.forEach((all, row) => {
    const end = row === rows.length - 1;
    const y = pane.y + 1 + row * m.rowH + m.rowH / 2;
    const items = fitting(all, room(end), gap, widthOf, end ? left : 0);
    for (const item of items) put(item, m.px(10) + item.x, y);
    if (end && note) put(note, m.px(10) + gap + items.at(-1).x + widthOf(items.at(-1)), y);
  });
}

/** paintButton draws a small box with a sign, around a point. */
export function paintButton(p, sign, x, y, ink) {
  const half = p.m.px(9);
  box(p, 'back', x - half, y - half, 2 * half, 2 * half);
  frame(p, ink, x - half, y - half, 2 * half, 2 * half, p.m.thin);
  write(p, sign, x - p.o.measure(sign, p.m.tag, 500) / 2, y, p.m.tag, 500, ink);
}

/** paintCross draws the crosshair with its time and value on the axes, and where there is a
 * menu what opens it. */
export function paintCross(p) {
  const { m, cross } = p;
  if (!cross) return;
  const pad = m.either(5, 8);
  const label = (text, left, top, width) => {
    box(p, 'muted', left, top, width, m.tagH);
    write(p, text, left + pad, top + m.tagH / 2, m.tag, 500, p.onTag.muted);
  };
  const x = Math.round(cross.x ?? columnAt(p, cross.bar));
  dashes(p, x, p.headerEnd, x, p.timeY, 3, 3, 'muted');
  const when = dateText(p.data.walls[cross.bar].wall, p.data.seconds);
  const long = p.o.measure(when, m.tag, 500) + 2 * pad;
  if (cross.x === undefined) label(when, Math.min(Math.max(barX(p, cross.bar) - long / 2, 0), p.axisX - long), p.timeY + m.thin, long);
  const y = Math.round(cross.y);
  const pane = p.panes.find(q => y >= q.y && y < q.end);
  if (!pane || pane.scale.empty) return;
  dashes(p, 0, y, p.axisX, y, 3, 3, 'muted');
  if (pane.price && p.o.onMenu && y < pane.floor) paintButton(p, '+', plusAt(p), y, 'text');
  const v = valueAt(pane.scale, cross.y);
  const exponent = Math.floor(Math.log10(Math.abs(pane.scale.hi - pane.scale.lo) / 100));
  const text = pane.price ? axisText(p, v) : axisFormat(Math.abs(v), exponent, true)(v);
  const left = Math.min(p.axisX, m.w - p.o.measure(text, m.tag, 500) - 2 * pad); // wider than all that the axis shows
  label(text, left, Math.round(y - m.tagH / 2), m.w - left);
}
