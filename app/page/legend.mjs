// The words of a chart: the header, and the legend. Both speak of one bar, the one under
// the crosshair or else the newest of all, also where the window shows older ones. The legend has the name of each study, the
// values of its lines in their colours, its levels, and how often each signal came.
import { longestLevel } from './axis.mjs';
import { ohlc, percentText, priceText, tiny, usable, valueText, volumeText } from './format.mjs';
import { barInk, signalName, toneInk } from './look.mjs';
import { t } from './texts.mjs';
import { dateText, day } from './times.mjs';

/** digitsOf returns how many decimals values on the price axis need: those of the
 * prices, and enough to tell values apart that differ by a hundredth of the range. */
function digitsOf(p) {
  const { precision } = p.data;
  const { lo, hi, empty } = p.panes[0].scale;
  return empty ? precision : Math.min(Math.max(precision, Math.ceil(-Math.log10((hi - lo) / 100))), Math.max(tiny - 1, precision));
}

/** barOf returns the bar that header and legend speak of. */
const barOf = p => p.cross?.bar ?? p.newest;

/** headerParts returns the texts of the header from left to right, each with its ink;
 * the less important ones have a higher rank and go first when room is short. */
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

/** stateText says what a reader must know about the bars: that the last one will change,
 * in how many places some are missing, and how old they were when the source was asked,
 * if that is more than two intervals. */
function stateText({ n, time, seconds, forming, gaps, synthetic, request, as_of }) {
  const age = Math.floor(Date.parse(as_of) / 1000) - time[n - 1] - seconds;
  const [size, unit] = age >= day ? [day, 'd'] : age >= 3600 ? [3600, 'h'] : [60, 'min'];
  const old = !synthetic && !request.to && age > 2 * seconds && `${Math.floor(age / size)} ${unit} old`;
  return [forming && 'forming', gaps > 0 && (gaps === 1 ? '1 gap' : `${gaps} gaps`), old].filter(text => text).join(' · ');
}

/** rangeText writes the time of the bar under the crosshair, or of the first and the
 * last bar of the window. */
function rangeText(p) {
  const { walls, seconds } = p.data;
  const zone = !p.o.zone || seconds >= day ? 'UTC' : p.o.zone;
  const omitted = p.omitted > 0 ? `+${p.omitted} panels omitted (height) · ` : '';
  const at = i => dateText(walls[i].wall, seconds);
  if (p.cross) return `${omitted}${at(p.cross.bar)} ${zone}`;
  const bars = p.i1 - p.i0;
  return `${omitted}${at(p.i0)} → ${at(p.last)} ${zone} · ${bars} ${bars === 1 ? 'bar' : 'bars'}`;
}

/** legendItems returns the items of one study: texts with their inks. Those of signals have
 * their count, too. */
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

/** sinceText says since when the change of a compared symbol counts, if that is later than
 * the first bar of the window; it is empty for all other lines. */
function sinceText(p, { since }) {
  return since > p.i0 ? 'since ' + dateText(p.data.walls[since].wall, p.data.seconds) : '';
}

/** signalItems counts the signals in the window by name and direction. Only the sign before
 * the count has the colour of the signal. */
function signalItems(p, st) {
  const items = new Map();
  for (const s of st.signals) {
    if (s.x < p.i0 || s.x >= p.i1) continue;
    const [sign, name] = [s.silent ? '' : { up: '▲ ', down: '▼ ' }[s.tone] ?? '● ', signalName(s.label)];
    const count = (items.get(sign + name)?.count ?? 0) + 1;
    items.set(sign + name, { sign, tone: st.shade ?? toneInk(s.tone, 'text'), text: `${name} ×${count}`, ink: 'axis', count });
  }
  return [...items.values()].sort((a, b) => (a.sign === '') - (b.sign === '')); // those without marks last
}

/** sharedRows shares out the items of studies among rows: a row for each study, or as many in
 * a row as fit. Then signals are counted only where the names and values of all that follow
 * have room; left is how many such counts are left out. room returns the width of a row,
 * given whether it is the last. */
export function sharedRows(all, count, room, gap, widthOf) {
  const rows = Array.from({ length: count }, (_, k) => (all.length <= count ? all[k] : []));
  let left = 0;
  if (all.length <= count || count === 0) return { rows, left };
  const bare = all.map(items => items.filter(item => !item.count));
  const after = ({ row, x }, items) => { // where items end that follow what ends there
    const width = items.reduce((sum, item) => sum + widthOf(item) + gap, 0);
    const fits = x === 0 || x + width - gap <= room(row === count - 1);
    return fits ? { row, x: x + width } : { row: row + 1, x: width };
  };
  let at = { row: 0, x: 0 };
  all.forEach((items, k) => {
    if (all.length - k < count - at.row) at = { row: at.row + 1, x: 0 }; // each of the rest has a row of its own
    const whole = [items, ...bare.slice(k + 1)].reduce(after, at).row < count;
    if (!whole) left += items.length - bare[k].length;
    at = after(at, whole ? items : bare[k]);
    rows[Math.min(at.row, count - 1)].push(...(whole ? items : bare[k]));
  });
  return { rows, left };
}

/** fitting returns the items that fit into width, with the count of the others, and of left
 * more, in the last one's place; widthOf measures an item. */
export function fitting(items, width, gap, widthOf, left = 0) {
  const out = [];
  let x = 0;
  const more = i => ({ text: `+${items.length - i + left}`, ink: 'axis', x });
  for (const [i, item] of items.entries()) {
    const room = i < items.length - 1 || left > 0 ? width - gap - widthOf(more(i)) : width;
    if (i > 0 && x + widthOf(item) > room) return [...out, more(i)];
    out.push({ ...item, x });
    x += widthOf(item) + gap;
  }
  return left > 0 ? [...out, more(items.length)] : out;
}

/** described returns one line about the bar that header and legend speak of, for
 * readers who do not see the picture. */
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
