// The words of a chart: the header, the legends, the axes and the crosshair. Header and legend speak of one bar, the
// one under the crosshair or else the newest of all, also where the window shows older ones.
import { axisText, longestLevel } from './axis.mjs';
import { ohlc, percentText, priceText, tiny, usable, valueText, volumeText } from './format.mjs';
import { barInk, signalName, toneInk } from './look.mjs';
import { backed, box, dashes, frame, stroke, through, write } from './pen.mjs';
import { barX, columnAt, plusAt } from './plan.mjs';
import { axisFormat, valueAt } from './scale.mjs';
import { t } from './texts.mjs';
import { dateText, day } from './times.mjs';

/** barOf returns the bar that header and legend speak of. */
const barOf = p => p.cross?.bar ?? p.newest;

/** headerParts returns the texts of the header from left to right, each with its ink; the less important ones have a
 * higher rank and go first when room is short. */
export function headerParts(p) {
  const { data } = p;
  const { open, close, volume, precision } = data;
  const i = barOf(p);
  const parts = [{ text: data.symbol, ink: 'text', strong: true, rank: 0 }];
  const add = (rank, ink, text, more) => text && parts.push({ text, ink, rank, ...more });
  add(4, 'axis', data.interval);
  add(4, 'axis', p.kind === 'heikin_ashi' && 'Heikin-Ashi');
  add(4, 'axis', p.mode === 'log' && 'log');
  add(1, 'amber', data.synthetic && 'SYNTHETIC', { badge: true });
  if (i < 0) return parts;
  add(1, 'axis', p.untold > 0 && `${p.untold} not drawn`);
  if (i === data.n - 1) add(3, 'amber', stateText(data));
  const ink = close[i] >= open[i] ? 'up' : 'down';
  for (const name of ohlc) add(name === 'close' ? 5 : 7, ink, `${name[0].toUpperCase()} ${priceText(data[name][i], precision)}`);
  if (i > 0) {
    const change = close[i] - close[i - 1];
    const tone = change < 0 ? 'down' : 'up';
    add(6, tone, (change > 0 ? '+' : '') + priceText(change, precision));
    add(2, tone, '(' + percentText(close[i - 1], close[i]) + ')');
  }
  add(8, ink, volume[i] > 0 && 'Vol ' + volumeText(volume[i]));
  add(9, 'axis', rangeText(p), { right: true });
  return parts;
}

/** stateText says what a reader must know about the bars: that the last one will change, in how many places some are
 * missing, and how old they were when the source was asked, if that is more than two intervals. */
function stateText({ n, time, seconds, forming, gaps, synthetic, request, as_of }) {
  const age = Math.floor(Date.parse(as_of) / 1000) - time[n - 1] - seconds;
  const [size, unit] = age >= day ? [day, 'd'] : age >= 3600 ? [3600, 'h'] : [60, 'min'];
  const old = !synthetic && !request.to && age > 2 * seconds && `${Math.floor(age / size)} ${unit} old`;
  return [forming && 'forming', gaps > 0 && (gaps === 1 ? '1 gap' : `${gaps} gaps`), old].filter(text => text).join(' · ');
}

/** rangeText writes the time of the bar under the crosshair, or of the first and the last bar of the window. */
function rangeText(p) {
  const { walls, seconds } = p.data;
  const zone = !p.o.zone || seconds >= day ? 'UTC' : p.o.zone;
  const omitted = p.omitted > 0 ? `+${p.omitted} panels omitted (height) · ` : '';
  const at = i => dateText(walls[i].wall, seconds);
  if (p.cross) return `${omitted}${at(p.cross.bar)} ${zone}`;
  const bars = p.i1 - p.i0;
  return `${omitted}${at(p.i0)} → ${at(p.last)} ${zone} · ${bars} ${bars === 1 ? 'bar' : 'bars'}`;
}

/** paintHeader writes the header, leaving out the least important parts until the rest fits. */
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

/** digitsOf returns how many decimals values on the price axis need: those of the prices, and enough to tell values
 * apart that differ by a hundredth of the range. */
function digitsOf(p) {
  const { precision } = p.data;
  const { lo, hi, empty } = p.panes[0].scale;
  return empty ? precision : Math.min(Math.max(precision, Math.ceil(-Math.log10((hi - lo) / 100))), Math.max(tiny - 1, precision));
}

/** legendItems returns the items of one study, texts with their inks: its name, the values of its lines in their
 * colours, its levels, and how often each signal came. */
export function legendItems(p, pane, st) {
  const i = barOf(p);
  const items = [{ text: p.o.onStudy && !st.compare ? `${st.name} ▾` : st.name, ink: 'text', strong: true, st }];
  const add = (ink, text) => items.push({ text, ink });
  const all = [...st.lines, ...st.histogram];
  if (!st.compare && all.length > 0 && !all.some(l => l.values.some(usable))) {
    const lack = p.data.volume.some(v => v > 0) ? 'no values in these bars' : 'no values (these bars have no volume)';
    add('axis', st.needs > p.data.n ? `needs ${st.needs} bars` : lack);
    return items;
  }
  const digits = digitsOf(p);
  let write = valueText;
  if (pane.price) write = st.compare ? v => percentText(p.base, v, p.changes) : v => priceText(v, digits);
  // The only value needs no name, except that of a compared symbol: its tag may give way.
  const named = (label, text) => (label && (st.compare || all.length > 1) ? label.slice(0, 20) + ' ' + text : text);
  st.lines.forEach((l, k) => {
    const { ink } = st.lineLooks[k];
    const since = sinceText(p, l);
    add(ink, named(l.label, write(l.values[i])));
    if (since) add(ink, since);
  });
  for (const h of st.histogram) add(barInk(h) === 'up' && h.values[i] < 0 ? 'down' : barInk(h), named(h.label, valueText(h.values[i])));
  if (st.shade) items.push({ text: '■ true', ink: st.shade }, { text: `${p.cross ? 'this' : 'last'} bar ${st.shaded.some(s => s.from <= i && i <= s.to)}`, ink: 'axis' });
  const sessions = st.sessions.filter((bar, k) => bar < p.i1 && (st.sessions[k + 1] ?? Infinity) > p.i0).length; // in the window
  if (sessions > 0) add('axis', sessions === 1 ? '1 session' : `${sessions} sessions`);
  for (const h of st.hlines) if (h.label) add(toneInk(h.tone, 'band'), h.label.slice(0, longestLevel) + ' ' + write(h.y));
  return p.o.signals === 'off' ? items : items.concat(signalItems(p, st));
}

/** sinceText says since when the change of a compared symbol counts, if not from the first bar of the window on. */
const sinceText = (p, { since }) => (since > p.i0 ? 'since ' + dateText(p.data.walls[since].wall, p.data.seconds) : '');

/** signalItems counts the signals in the window by name and direction, each after a sign in its colour. */
function signalItems(p, st) {
  const items = new Map();
  for (const s of st.signals.filter(s => s.x >= p.i0 && s.x < p.i1)) {
    const [sign, name] = [s.silent ? '' : { up: '▲ ', down: '▼ ' }[s.tone] ?? '● ', signalName(s.label)];
    const count = (items.get(sign + name)?.count ?? 0) + 1;
    items.set(sign + name, { sign, tone: st.shade ?? toneInk(s.tone, 'text'), text: `${name} ×${count}`, ink: 'axis', count });
  }
  return [...items.values()].sort((a, b) => (a.sign === '') - (b.sign === '')); // those without marks last
}

/** fitting returns the items that fit into width, as widthOf measures them, and last how many others there are. */
export function fitting(items, width, gap, widthOf) {
  const out = [];
  let x = 0;
  for (const [i, item] of items.entries()) {
    const more = { text: `+${items.length - i}`, ink: 'axis', x };
    const room = i < items.length - 1 ? width - gap - widthOf(more) : width;
    if (i > 0 && x + widthOf(item) > room) return [...out, more];
    out.push({ ...item, x });
    x += widthOf(item) + gap;
  }
  return out;
}

/** paintLegend writes the rows of a legend, one for each study while there are as many, and notes where their names
 * are. In the last one counts of signals come after all else, and how many marks had no room. */
export function paintLegend(p, pane) {
  const { m } = p;
  const gap = m.px(12);
  const weight = item => (item.strong ? 500 : 400);
  const measure = (text, item) => p.o.measure(text, m.legend, weight(item));
  const widthOf = item => measure((item.sign ?? '') + item.text, item);
  const rows = Array.from({ length: pane.rows }, () => []);
  pane.studies.forEach((st, k) => rows[Math.min(k, pane.rows - 1)]?.push(...legendItems(p, pane, st)));
  pane.names = [];
  rows.forEach((all, row) => {
    const end = row === rows.length - 1;
    const y = pane.y + 1 + row * m.rowH + m.rowH / 2;
    const note = end && pane.unmarked > 0 ? [{ text: `${pane.unmarked} more not drawn`, ink: 'axis' }] : [];
    const room = p.axisX - m.px(20) - note.reduce((sum, item) => sum + widthOf(item) + gap, 0);
    const items = fitting(end ? all.sort((a, b) => Boolean(a.count) - Boolean(b.count)) : all, room, gap, widthOf);
    const after = items.length ? items.at(-1).x + widthOf(items.at(-1)) + gap : 0;
    for (const item of [...items, ...note.map(item => ({ ...item, x: after }))]) {
      const x = m.px(10) + item.x;
      const begin = item.sign ? measure(item.sign, item) : 0;
      if (item.sign) backed(p, item.sign, x, y, m.legend, weight(item), item.tone, begin);
      backed(p, item.text, x + begin, y, m.legend, weight(item), item.ink, widthOf(item) - begin);
      if (item.st) pane.names.push({ st: item.st, x, y, width: widthOf(item) });
    }
  });
}

/** described returns one line about the bar that header and legend speak of, for readers who do not see the picture. */
export function described(p) {
  const i = barOf(p);
  const { data } = p;
  if (i < 0) return t('No bars');
  const prices = [t('Open'), t('High'), t('Low'), t('Close price')].map((name, k) => `${name} ${priceText(data[ohlc[k]][i], data.precision)}`);
  const studies = p.panes.flatMap(pane => pane.studies).filter(st => st.lines.length > 0).map(st => {
    const write = st.compare ? v => percentText(p.base, v, p.changes) : valueText;
    const values = st.lines.map(l => `${st.compare || st.lines.length > 1 ? l.label + ' ' : ''}${write(l.values[i])} ${sinceText(p, l)}`.trim());
    return `${st.name} ${values.join(', ')}`;
  });
  return [`${data.symbol} ${data.interval}, ${dateText(data.walls[i].wall, data.seconds)}`, ...prices, ...studies].join('; ');
}

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

/** paintButton draws a small box with a sign, around a point. */
export function paintButton(p, sign, x, y, ink) {
  const half = p.m.px(9);
  box(p, 'back', x - half, y - half, 2 * half, 2 * half);
  frame(p, ink, x - half, y - half, 2 * half, 2 * half, p.m.thin);
  write(p, sign, x - p.o.measure(sign, p.m.tag, 500) / 2, y, p.m.tag, 500, ink);
}

/** paintCross draws the crosshair with its time and value on the axes, and where there is a menu what opens it. */
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
