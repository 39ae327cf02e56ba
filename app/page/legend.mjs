// The words of a chart: the header, and one legend row per study. Both speak of one
// bar, the one under the crosshair or else the newest in the window. A row names the
// study, then gives every line's value in the line's own colour, then the levels, then
// how often each signal came.
import { noValue, percentText, priceText, usable, valueText, volumeText } from './format.mjs';
import { toneInk } from './inks.mjs';
import { look } from './look.mjs';
import { studyName } from './plan.mjs';
import { dateText } from './times.mjs';

/** digitsOf returns how many decimals values on the price axis need: those of the
 * prices, and enough to tell values apart that differ by a hundredth of the range. */
function digitsOf(p) {
  const { precision } = p.data;
  const sc = p.panes[0].scale;
  if (!(sc.hi > sc.lo) || sc.empty) return precision;
  return Math.min(Math.max(precision, Math.ceil(-Math.log10((sc.hi - sc.lo) / 100))), Math.max(10, precision));
}

/** signalName returns the label of a signal in words: "rsi_overbought" is "RSI leaves
 * overbought". */
export function signalName(label) {
  const whole = look.words[label];
  return (whole ?? label.split('_').map(w => look.words[w] ?? w).join(' ')).slice(0, 32);
}

/** barOf returns the bar that header and legend speak of. */
export function barOf(p) {
  return p.cross ? p.cross.bar : p.last;
}

/** headerParts returns the texts of the header from left to right, each with its ink;
 * the less important ones have a higher rank and go first when room is short. */
export function headerParts(p) {
  const { data } = p;
  const i = barOf(p);
  const parts = [{ text: data.symbol ?? '', ink: 'text', strong: true, rank: 0 }, { text: data.interval ?? '', ink: 'axis', rank: 2 }];
  if (data.synthetic) parts.push({ text: 'SYNTHETIC', ink: 'amber', badge: true, rank: 1 });
  if (data.forming && i === data.n - 1) parts.push({ text: 'forming', ink: 'amber', rank: 5 });
  if (i < 0) return parts;
  const ink = data.close[i] >= data.open[i] ? 'up' : 'down';
  const price = (name, v, rank) => parts.push({ text: name + ' ' + priceText(v, data.precision), ink, rank });
  price('O', data.open[i], 7);
  price('H', data.high[i], 7);
  price('L', data.low[i], 7);
  price('C', data.close[i], 3);
  if (i > 0 && data.valid[i - 1]) {
    const [before, now] = [data.close[i - 1], data.close[i]];
    const amount = (now < before ? '−' : '+') + priceText(Math.abs(now - before), data.precision);
    parts.push({ text: amount, ink: now < before ? 'down' : 'up', rank: 6 });
    parts.push({ text: '(' + percentText(before, now) + ')', ink: now < before ? 'down' : 'up', rank: 4 });
  }
  if (data.volume[i] > 0) parts.push({ text: 'Vol ' + volumeText(data.volume[i]), ink, rank: 8 });
  parts.push({ text: rangeText(p), ink: 'axis', right: true, rank: 9 });
  return parts;
}

/** rangeText writes the time of the bar under the crosshair, or of the first and the
 * last bar of the window. */
function rangeText(p) {
  const { walls, seconds } = p.data;
  const zone = !p.o.zone || seconds >= 86400 ? 'UTC' : p.o.zone;
  const omitted = p.omitted > 0 ? `+${p.omitted} panels omitted (height) · ` : '';
  if (p.cross) return omitted + dateText(walls[p.cross.bar].wall, seconds) + ' ' + zone;
  return omitted + dateText(walls[p.i0].wall, seconds) + ' → ' + dateText(walls[p.i1 - 1].wall, seconds) + ' ' + zone + ` · ${p.i1 - p.i0} bars`;
}

/** legendItems returns the items of one study's row: texts with their inks. */
export function legendItems(p, pane, st) {
  const i = barOf(p);
  const items = [{ text: studyName(st), ink: 'text', strong: true }];
  const digits = digitsOf(p);
  let write = valueText;
  if (pane.price) write = v => priceText(v, digits);
  if (st.compare) write = v => percentText(p.base, v);
  if (![...st.lines, ...st.histogram].some(l => l.values.some(usable)) && st.lines.length + st.histogram.length > 0) {
    return [...items, { text: 'no values in these bars', ink: 'axis' }];
  }
  const named = (label, text) => (st.lines.length + st.histogram.length === 1 || !label ? text : label.slice(0, 20) + ' ' + text);
  st.lines.forEach((l, k) => items.push({ text: named(l.label, write(l.values[i])), ink: st.lineLooks[k].ink }));
  st.histogram.forEach((h, k) => {
    const v = h.values[i];
    items.push({ text: named(h.label, valueText(v)), ink: st.barInks[k] === 'up' && v < 0 ? 'down' : st.barInks[k] });
  });
  for (const h of st.hlines) if (h.label) items.push({ text: h.label.slice(0, 16) + ' ' + write(h.y), ink: toneInk(h.tone, 'band') });
  return items.concat(p.o.signals === 'off' ? [] : signalItems(p, st));
}

/** signalItems counts the signals in the window by name and direction. */
function signalItems(p, st) {
  const groups = new Map();
  for (const s of st.signals) {
    if (s.silent || s.x < p.i0 || s.x >= p.i1) continue;
    const key = s.label + ' ' + s.tone;
    if (!groups.has(key)) groups.set(key, { signal: s, count: 0 });
    groups.get(key).count++;
  }
  const shape = { up: '▲ ', down: '▼ ' };
  return [...groups.values()].map(({ signal, count }) => ({
    text: (shape[signal.tone] ?? '● ') + signalName(signal.label) + ' ×' + count, ink: toneInk(signal.tone, 'text'),
  }));
}

/** fitting returns the items that fit into width, with the count of the others in the
 * last one's place; widthOf measures an item. */
export function fitting(items, width, gap, widthOf) {
  const out = [];
  let x = 0;
  for (let i = 0; i < items.length; i++) {
    const more = { text: `+${items.length - i}`, ink: 'axis' };
    const room = i < items.length - 1 ? width - gap - widthOf(more) : width;
    if (i > 0 && x + widthOf(items[i]) > room) return [...out, { ...more, x }];
    out.push({ ...items[i], x });
    x += widthOf(items[i]) + gap;
  }
  return out;
}

/** described returns one line about the bar that header and legend speak of, for
 * readers who do not see the picture. */
export function described(p) {
  const i = barOf(p);
  const { data } = p;
  if (i < 0) return 'No bars to draw.';
  const at = dateText(data.walls[i].wall, data.seconds);
  const prices = ['open', 'high', 'low', 'close'].map(name => `${name} ${priceText(data[name][i], data.precision)}`);
  const studies = p.panes.flatMap(pane => pane.studies.map(st => {
    const values = st.lines.map(l => `${st.lines.length > 1 ? l.label + ' ' : ''}${usable(l.values[i]) ? valueText(l.values[i]) : noValue}`);
    return values.length ? `${studyName(st)} ${values.join(', ')}` : '';
  })).filter(t => t);
  return [`${data.symbol} ${data.interval}, ${at}`, ...prices, ...studies].join('; ');
}
