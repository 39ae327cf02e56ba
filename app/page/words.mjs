// Writing on the canvas: axes with their ticks and tags, the header, the legends, and
// the crosshair.
import { axisText } from './axis.mjs';
import { fitting, headerParts, legendItems } from './legend.mjs';
import { backed, dashes, frame, write } from './pen.mjs';
import { barX, columnAt } from './plan.mjs';
import { axisFormat, valueAt } from './scale.mjs';
import { dateText } from './times.mjs';

/** paintAxes draws the lines between panes and axes, the tick labels and the tags. */
export function paintAxes(c) {
  const { p, m, ctx, colours } = c;
  ctx.fillStyle = colours.sep;
  for (const pane of p.panes) ctx.fillRect(0, pane.y, m.w, m.thin);
  ctx.fillRect(0, p.timeY, m.w, m.thin);
  ctx.fillRect(p.axisX, p.headerEnd, m.thin, p.timeY - p.headerEnd);
  const x = p.axisX + m.either(5, 8);
  for (const pane of p.panes) {
    for (const t of pane.ticks) if (t.shown) write(c, t.text, x, t.y, m.axis, 400, 'axis');
    for (const t of pane.tags) paintTag(c, t, x);
  }
  const y = p.timeY + m.timeH / 2 + m.thin;
  if (p.firstTime) write(c, p.firstTime.text, p.firstTime.x, y, m.axis, 700, 'text');
  for (const t of p.times) write(c, t.text, t.x, y, m.axis, t.strong ? 700 : 400, t.strong ? 'text' : 'axis');
}

/** paintTag draws a value on the axis in a box: filled for prices and lines, outlined
 * for levels. */
function paintTag(c, t, x) {
  const { p, m, ctx, colours } = c;
  ctx.fillStyle = t.outline ? colours.back : colours[t.ink];
  ctx.fillRect(p.axisX, t.top, m.w - p.axisX, m.tagH);
  if (t.outline) {
    ctx.fillStyle = colours[t.ink];
    frame(ctx, p.axisX, t.top, m.w - p.axisX, m.tagH, m.thin);
  }
  write(c, t.text, x, t.top + m.tagH / 2, m.tag, 500, t.outline ? t.ink : c.onTag[t.ink]);
}

/** paintWords draws the header and the legends. */
export function paintWords(c) {
  const { p, m } = c;
  paintHeader(c);
  for (const pane of p.panes) paintLegend(c, pane);
  if (p.i1 <= p.i0) write(c, 'No bars to draw', p.axisX / 2 - m.px(50), (p.panes[0].y + p.panes[0].end) / 2, m.legend, 400, 'text');
}

/** paintHeader writes the header, leaving out the least important parts until the rest
 * fits. */
function paintHeader(c) {
  const { p, m, ctx } = c;
  const gap = m.px(12);
  const y = m.headerH / 2;
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
    if (part.badge) {
      ctx.fillStyle = c.colours[part.ink];
      ctx.fillRect(x, y - m.tagH / 2, width(part), m.tagH);
      write(c, part.text, x + m.px(5), y, ...fontOf(part), c.onTag[part.ink]);
    } else {
      write(c, part.text, x, y, ...fontOf(part), part.ink);
    }
    x += width(part) + gap;
  }
}

/** paintLegend writes a row per study; a pane with more studies than rows puts the rest
 * into the last one, where also stands how many marks found no room. */
function paintLegend(c, pane) {
  const { p, m } = c;
  const weight = item => (item.strong ? 500 : 400);
  const widthOf = item => p.o.measure(item.text, m.legend, weight(item));
  const put = (item, x, y) => backed(c, item.text, x, y, m.legend, weight(item), item.ink, widthOf(item));
  for (let row = 0; row < pane.rows; row++) {
    const studies = row === pane.rows - 1 ? pane.studies.slice(row) : [pane.studies[row]];
    const note = row === pane.rows - 1 && pane.unmarked > 0 ? { text: `${pane.unmarked} more not drawn`, ink: 'axis' } : undefined;
    const y = pane.y + 1 + row * m.rowH + m.rowH / 2;
    const room = p.axisX - m.px(20) - (note ? widthOf(note) + m.px(12) : 0);
    const items = fitting(studies.flatMap(st => legendItems(p, pane, st)), room, m.px(12), widthOf);
    for (const item of items) put(item, m.px(10) + item.x, y);
    const last = items.at(-1);
    if (note && last) put(note, m.px(22) + last.x + widthOf(last), y);
  }
}

/** paintCross draws the crosshair with its time and value on the axes. */
export function paintCross(c) {
  const { p, m, ctx, colours } = c;
  const { bar, y } = p.cross;
  const x = columnAt(p, bar);
  dashes(c, x, p.headerEnd, x, p.timeY, 3, 3, 'muted');
  const box = (text, left, top, width) => {
    ctx.fillStyle = colours.muted;
    ctx.fillRect(left, top, width, m.tagH);
    write(c, text, left + m.either(5, 8), top + m.tagH / 2, m.tag, 500, c.onTag.muted);
  };
  const when = dateText(p.data.walls[bar].wall, p.data.seconds);
  const width = p.o.measure(when, m.tag, 500) + 2 * m.either(5, 8);
  box(when, Math.min(Math.max(barX(p, bar) - width / 2, 0), p.axisX - width), p.timeY + m.thin, width);
  const pane = p.panes.find(q => y >= q.y && y < q.end);
  if (!pane || pane.scale.empty) return;
  dashes(c, 0, Math.round(y), p.axisX, Math.round(y), 3, 3, 'muted');
  const v = valueAt(pane.scale, y);
  const exponent = Math.floor(Math.log10(Math.abs(pane.scale.hi - pane.scale.lo) / 100));
  const text = pane.price ? axisText(p, v) : axisFormat(Math.abs(v), exponent, true)(v);
  box(text, p.axisX, Math.round(y - m.tagH / 2), m.w - p.axisX);
}
