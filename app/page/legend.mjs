// The words of a chart: header and legends, which are elements above the canvas. They speak of one bar, the one under
// the crosshair or else the newest of all, also where the window shows older ones.
import { button, el, refill } from './dom.mjs';
import { ohlc, percentText, priceText, usable, valueText, volumeText } from './format.mjs';
import { barInk, signalName, toneInk } from './look.mjs';
import { box, write } from './pen.mjs';
import { t } from './texts.mjs';
import { dateText, day } from './times.mjs';

const longestLabel = 26; // characters of the name of a level

/** barOf returns the bar that header and legend speak of. */
const barOf = p => p.cross?.bar ?? p.newest;

/** headerItems returns the texts of the header, each with its ink: what matters most first, since the others go where
 * room is short. */
export function headerItems(p) {
  const { data } = p;
  const { open, close, volume, precision } = data;
  const i = barOf(p);
  const items = [{ text: data.symbol, ink: 'text', strong: true }];
  const add = (ink, text, more) => text && items.push({ text, ink, ...more });
  add('axis', data.interval);
  add('amber', data.synthetic && 'SYNTHETIC', { badge: true });
  if (i < 0) return items;
  if (i === data.n - 1) add('amber', stateText(data));
  if (i > 0) add(close[i] < close[i - 1] ? 'down' : 'up', percentText(close[i - 1], close[i]));
  const ink = close[i] >= open[i] ? 'up' : 'down';
  const names = p.o.width < 700 ? ['close'] : ohlc;
  for (const name of names) add(ink, `${name[0].toUpperCase()} ${priceText(data[name][i], precision)}`);
  add(ink, volume[i] > 0 && 'Vol ' + volumeText(volume[i]));
  add('axis', p.kind === 'heikin_ashi' && 'Heikin-Ashi');
  add('axis', p.mode === 'log' && 'log');
  add('axis', rangeText(p));
  return items;
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

/** legendItems returns the items of one study, texts with their inks: its name, the values of its lines in their
 * colours, its levels, and how often each signal came. */
export function legendItems(p, pane, st) {
  const i = barOf(p);
  const items = [{ text: st.name, ink: 'text', strong: true, st }];
  const add = (ink, text) => items.push({ text, ink });
  const all = [...st.lines, ...st.histogram];
  if (!st.compare && all.length > 0 && !all.some(l => l.values.some(usable))) {
    const lack = p.data.volume.some(v => v > 0) ? 'no values in these bars' : 'no values (these bars have no volume)';
    add('axis', st.needs > p.data.n ? `needs ${st.needs} bars` : lack);
    return items;
  }
  const write = st.compare ? v => percentText(p.base, v, p.changes) : pane.price ? v => priceText(v, p.data.precision) : valueText;
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
  for (const h of st.hlines) if (h.label) add(toneInk(h.tone, 'band'), h.label.slice(0, longestLabel) + ' ' + write(h.y));
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

/** rowsOf returns the rows of a legend, one for each study while there are as many. In the last one counts of signals
 * come after all else, and before them how much had no room in the plot. */
function rowsOf(p, pane) {
  const all = [...(pane.price ? [headerItems(p)] : []), ...pane.studies.map(st => legendItems(p, pane, st))];
  const rows = all.slice(0, pane.rows);
  const last = [...(rows.pop() ?? []), ...all.slice(pane.rows).flat()];
  const note = pane.unmarked > 0 ? [{ text: `${pane.unmarked} more not drawn`, ink: 'axis' }] : [];
  return [...rows, [...last.filter(item => !item.count), ...note, ...last.filter(item => item.count)]];
}

/** writeLegends writes the legends of a plan above its panes, and again only what has changed. The names of studies
 * are buttons where a press on one is of use. */
export function writeLegends(element, p, back) {
  const { colours, onTag, m: { u }, o: { onStudy } } = p;
  while (element.children.length > p.panes.length) element.lastChild.remove();
  p.panes.forEach((pane, k) => {
    const legend = element.children[k] ?? element.appendChild(el('div'));
    Object.assign(legend.style, { top: `${pane.y / u}px`, width: `${p.axisX / u}px` });
    const rows = rowsOf(p, pane);
    const state = JSON.stringify(rows.map(row => row.map(({ st, ...item }) => [colours[item.ink], st?.key, item])));
    if (legend.state === state) return;
    legend.state = state;
    const pressed = (st, e) => onStudy(st.key, { x: e.target.offsetLeft, y: legend.offsetTop + e.target.offsetTop + e.target.offsetHeight });
    const word = ({ text, sign, tone, ink, strong, badge, st }) => {
      const part = st && onStudy && !st.compare ? button(text + ' ▾', e => pressed(st, e), { 'aria-label': t('Change {0}', text) }) : el('span', { lang: 'en' }, text);
      if (sign) part.prepend(el('span', {}, sign));
      if (sign) part.firstChild.style.color = colours[tone];
      Object.assign(part.style, badge ? { background: colours[ink], color: colours[onTag[ink]] } : { color: colours[ink] });
      part.className = strong ? 'strong' : badge ? 'badge' : '';
      return part;
    };
    refill(legend, back, () => rows.map(row => el('p', {}, ...row.map(word))));
  });
}

/** printLegends writes what can be read of the legends into the picture, where it stands. */
export function printLegends(element, p) {
  const { left, top } = element.getBoundingClientRect();
  const { u, px } = p.m;
  for (const row of element.querySelectorAll('p')) {
    const end = row.getBoundingClientRect().right;
    for (const part of row.children) {
      const at = part.getBoundingClientRect();
      if (at.right > end) break;
      const [x, y, width] = [at.left - left, at.top + at.height / 2 - top, at.width].map(v => v * u);
      const { color: letters, backgroundColor: ground, fontSize, fontWeight, paddingLeft } = getComputedStyle(part);
      Object.assign(p.colours, { letters, ground });
      box(p, 'ground', x, y - px(9), width, px(18));
      write(p, part.textContent, x + parseFloat(paddingLeft) * u, y, 'letters', fontWeight, parseFloat(fontSize) * u);
    }
  }
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
