// The axes of the panes: ticks at round values, and tags at values that matter.
import { exponentText, levelText, namedText, percentText, priceText, signed, tiny, usable, valueText } from './format.mjs';
import { lined, toneInk } from './look.mjs';
import { axisFormat, logTicks, roundTicks, rowOf, valueAt, yOf } from './scale.mjs';

/** measureAxis writes tags and ticks. A tag that another is in the way of is left out, and so is the label of such a
 * tick; its grid line stays. The widest decides the width of all axes, which only grows while the window moves: o.axis
 * is the one before. */
export function measureAxis(p) {
  const { m: { w, px, tagH }, o } = p;
  p.axisWidth = o.axis ?? 0;
  for (const pane of p.panes) {
    Object.assign(pane, { ticks: [], tags: [] });
    if (p.i1 <= p.i0 || pane.scale.empty) continue;
    const free = y => [...pane.tags, ...pane.ticks.filter(t => t.shown)].every(other => Math.abs(other.y - y) >= tagH);
    const ticks = ticksOf(p, pane); // which decide how many decimals a change has
    for (const tag of pane.price ? priceTags(p, pane) : lineTags(p, pane)) if (free(tag.y)) pane.tags.push(tag);
    for (const t of ticks) pane.ticks.push({ ...t, shown: t.y >= pane.y + tagH / 2 && t.y <= pane.floor - tagH / 2 && free(t.y) });
    p.axisWidth = Math.max(p.axisWidth, ...[...pane.ticks, ...pane.tags].map(t => p.widthOf(t.text)));
  }
  p.axisX = w - Math.min(Math.max(Math.ceil(p.axisWidth) + px(16), px(44)), Math.floor(w / 2));
}

/** ticksOf returns ticks at the levels of an oscillator and at round values away from them, on a percent axis at round
 * changes from the first close in the window. */
function ticksOf(p, pane) {
  const { m, base, data: { precision } } = p;
  const { scale: sc, price, studies: [st] } = pane;
  const tick = (value, text) => ({ y: rowOf(sc, value), text, level: false });
  let [lo, hi] = [valueAt(sc, pane.floor), valueAt(sc, pane.y)];
  if (!price && st.bounded) [lo, hi] = [Math.max(lo, st.y_range[0]), Math.min(hi, st.y_range[1])];
  const levels = price ? [] : st.hlines.filter(h => isInside(pane, h.y)).map(h => ({ ...tick(h.y, levelText(h.y)), level: true }));
  const part = m.px(price ? 32 : 28) / Math.max(1, rowOf(sc, lo) - rowOf(sc, hi)); // of the rows, from tick to tick
  if (price && p.mode === 'percent' && base > 0) {
    const [from, to] = [lo, hi].map(v => ((v - base) / base) * 100);
    const { values, exponent } = roundTicks(from, to, (to - from) * part);
    const digits = Math.min(Math.max(0, -exponent), 10);
    p.changes = Math.max(2, digits); // of tags and legend
    return values.map(v => tick(base * (1 + v / 100), signed(v, digits) + '%'));
  }
  const small = price && precision >= tiny;
  if (sc.log && hi / lo > 2) return logTicks(lo, hi, part).map(v => tick(v, small ? exponentText(v, 1) : levelText(v)));
  const { values, exponent } = roundTicks(lo, hi, (hi - lo) * part);
  const text = axisFormat(Math.max(Math.abs(lo), Math.abs(hi)), exponent, !price, small);
  const round = values.map(v => tick(v, text(v)));
  return [...levels, ...round.filter(t => levels.every(l => Math.abs(l.y - t.y) >= 2 * m.text))];
}

const longestTag = 12; // characters of a level's name in a tag
const mostLevels = 8; // levels of studies that get a tag: those nearest to the last price

/** isInside reports whether v is within the rows of a pane that show data. */
export const isInside = (pane, v) => yOf(pane.scale, v) >= pane.y && yOf(pane.scale, v) <= pane.floor;

/** priceTags returns the tags of the price: the newest close, levels of the account and the caller, compared symbols,
 * levels of studies. The newest close is always there: while the window shows other prices, at the edge with an arrow
 * towards it. */
function priceTags(p, pane) {
  const closed = p.data.close[p.newest];
  const row = rowOf(pane.scale, closed);
  const half = p.m.tagH / 2;
  const away = row < pane.y ? '▲ ' : row > pane.floor ? '▼ ' : '';
  const tags = [{ y: Math.min(Math.max(row, pane.y + half), pane.end - half), text: away + axisText(p, closed), ink: priceInk(p, p.newest) }];
  const add = (v, ink, text, more) => isInside(pane, v) && tags.push({ y: rowOf(pane.scale, v), text, ink, ...more });
  for (const l of p.levels) add(l.price, l.ink, axisText(p, l.price, true), { outline: true, level: l });
  for (const st of pane.studies.filter(st => st.compare)) {
    st.lines.forEach((l, i) => add(l.values[p.newest], st.lineLooks[i].ink, (p.m.compact ? '' : l.label + ' ') + axisText(p, l.values[p.newest])));
  }
  const levels = pane.studies.flatMap(st => st.hlines).sort((a, b) => Math.abs(a.y - closed) - Math.abs(b.y - closed));
  for (const { y, label = '', tone } of levels.slice(0, mostLevels)) {
    const name = label.length > longestTag || p.m.compact ? '' : label + ' '; // the legend has it
    add(y, toneInk(tone, 'band'), (name + axisText(p, y)).trim(), { outline: true });
  }
  return tags;
}

/** lineTags tags the newest value of the first line of a panel. */
function lineTags(p, { scale, y, end, studies: [st] }) {
  const [line] = st.lines;
  const v = line?.values[p.newest];
  const row = rowOf(scale, v);
  return usable(v) && row >= y && row <= end && line.style !== 'dots' ? [{ y: row, text: valueText(v), ink: st.lineLooks[0].ink }] : [];
}

/** axisText writes a value as the price axis does: in percent where that is. The price of a level of the account or
 * the caller is named by itself. */
export function axisText({ mode, base, changes, data }, v, named) {
  if (mode === 'percent' && base > 0) return percentText(base, v, changes);
  return named ? namedText(data, v) : priceText(v, data.precision);
}

/** priceInk returns the colour of the price at bar i: that of its bar, or of the line that shows it. */
export const priceInk = (p, i) => (lined(p.kind) ? 'profile' : p.data.close[i] >= p.data.open[i] ? 'up' : 'down');
