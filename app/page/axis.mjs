// The axes of the panes: ticks at round values, tags at values that matter, and which of their labels have room.
import { exponentText, levelText, namedText, percentText, priceText, signed, tiny, usable, valueText } from './format.mjs';
import { lined, toneInk } from './look.mjs';
import { axisFormat, logTicks, roundTicks, rowOf, tickAt, valueAt, yOf } from './scale.mjs';

/** measureAxis writes ticks and tags. The widest decides the width of all axes, which only grows while the window
 * moves: o.axis is the one before. */
export function measureAxis(p) {
  const { m, o } = p;
  p.axisWidth = o.axis ?? 0;
  for (const pane of p.panes) {
    Object.assign(pane, { ticks: [], tags: [] });
    if (p.i1 <= p.i0 || pane.scale.empty) continue;
    pane.ticks = !pane.price && pane.studies[0].hlines.length > 0 ? levelTicks(p, pane) : roundValues(p, pane);
    pane.tags = pane.price ? priceTags(p, pane) : lineTags(p, pane);
    const widths = [...pane.ticks.map(t => o.measure(t.text, m.axis, 400)), ...pane.tags.map(t => o.measure(t.text, m.tag, 500))];
    p.axisWidth = Math.max(p.axisWidth, ...widths);
  }
  p.axisX = m.w - Math.min(Math.max(Math.ceil(p.axisWidth) + m.either(10, 16), m.px(44)), Math.floor(m.w / 2));
}

/** tickOf returns a tick with its row and the top of its label. */
function tickOf(p, pane, value, text, level = false) {
  const y = rowOf(pane.scale, value);
  return { y, top: y - p.m.tickH / 2, text, level, shown: false };
}

/** roundValues returns ticks at round values over the rows data may take, on a percent axis at round changes from the
 * first close in the window. */
function roundValues(p, pane) {
  const { m, base } = p;
  const { scale: sc, price, studies: [st] } = pane;
  const tick = (value, text) => tickOf(p, pane, value, text);
  const all = t => Array.from({ length: Math.max(0, t.last - t.first + 1) }, (_, i) => tickAt(t, t.first + i));
  if (sc.zero) return [tick(0, '0')];
  let [lo, hi] = [valueAt(sc, pane.floor), valueAt(sc, pane.legendEnd)];
  if (!price && st.bounded) [lo, hi] = [Math.max(lo, st.y_range[0]), Math.min(hi, st.y_range[1])];
  const apart = m.compact ? 24 : price ? 28 : 26;
  const room = { apart: apart * m.u, font: m.axis, decimals: price ? p.data.precision : 10, height: yOf(sc, lo) - yOf(sc, hi) };
  if (price && p.mode === 'percent' && base > 0) {
    const percent = v => ((v - base) / base) * 100;
    const t = roundTicks(percent(lo), percent(hi), { ...room, decimals: 2 });
    const digits = Math.min(Math.max(0, -t.exponent), 10);
    p.changes = Math.max(2, digits); // of tags and legend
    return all(t).map(v => tick(base * (1 + v / 100), signed(v, digits) + '%'));
  }
  const small = price && p.data.precision >= tiny;
  if (sc.log && hi / lo > 2) return logTicks(lo, hi, room).map(v => tick(v, small ? exponentText(v, 1) : levelText(v)));
  const t = roundTicks(lo, hi, room);
  const write = axisFormat(Math.max(Math.abs(lo), Math.abs(hi)), t.exponent, !price, small);
  return all(t).map(v => tick(v, write(v)));
}

/** levelTicks labels the levels of an oscillator, outermost first, and round values where there is room. */
function levelTicks(p, pane) {
  const { lo, hi } = pane.scale;
  const sorted = [...new Set(pane.studies[0].hlines.map(h => h.y).filter(y => y >= lo && y <= hi))].sort((a, b) => a - b);
  const levels = [];
  while (sorted.length > 0) levels.push(sorted.pop(), ...sorted.splice(0, 1));
  const [ticks, round] = [[], roundValues(p, pane)];
  for (const t of [...levels.map(v => tickOf(p, pane, v, levelText(v), true)), ...round]) {
    const gap = t.level ? Math.floor(1.15 * p.m.axis) : 2 * p.m.axis;
    if (ticks.every(other => Math.abs(other.y - t.y) >= gap)) ticks.push(t);
  }
  return ticks.filter(t => t.top > pane.y && t.top + p.m.tickH <= pane.floor).length < 2 ? round : ticks;
}

const longestTag = 12; // characters of a level's name in a tag
export const longestLevel = 26; // and elsewhere
const mostLevels = 8; // levels of a pane that get a tag: those nearest to the last price

/** isInside reports whether v is within the rows of a pane that show data. */
export const isInside = (pane, v) => yOf(pane.scale, v) >= pane.legendEnd && yOf(pane.scale, v) <= pane.floor;

/** priceTags writes the tags of the price: the newest close, compared symbols, levels. The newest close is always
 * there: while the window shows other prices, at the edge with an arrow towards it. */
function priceTags(p, pane) {
  const closed = p.data.close[p.newest];
  const away = yOf(pane.scale, closed) < pane.y ? '▲ ' : yOf(pane.scale, closed) > pane.floor ? '▼ ' : '';
  const tag = (v, ink, name, more, named) => ({ y: rowOf(pane.scale, v), text: (name && !p.m.compact ? name + ' ' : '') + axisText(p, v, named), ink, ...more });
  const inside = v => isInside(pane, v);
  const newest = tag(closed, priceInk(p, p.newest), '', { fixed: true });
  const tags = [{ ...newest, text: away + newest.text }];
  for (const st of pane.studies.filter(st => st.compare)) {
    st.lines.forEach((l, i) => usable(l.values[p.newest]) && tags.push(tag(l.values[p.newest], st.lineLooks[i].ink, l.label)));
  }
  for (const l of p.levels) if (inside(l.price)) tags.push(tag(l.price, l.ink, '', { outline: true }, true));
  const levels = pane.studies.flatMap(st => st.hlines.filter(h => inside(h.y)).map(h => ({ st, h })));
  levels.sort((a, b) => Math.abs(a.h.y - closed) - Math.abs(b.h.y - closed));
  for (const { st, h } of levels.slice(0, mostLevels)) {
    const long = (h.label ?? '').length > longestTag; // then it is named in the plot, where there is more room
    tags.push(tag(h.y, toneInk(h.tone, 'band'), long ? '' : levelName(pane, st, h), { outline: true }));
  }
  return tags;
}

/** levelName returns the name of a level, after that of its study if another has a level of that name. */
export function levelName(pane, st, level) {
  const name = (level.label ?? '').slice(0, longestLevel);
  const twice = name && pane.studies.some(other => other !== st && other.hlines.some(h => h.label === level.label));
  return twice ? st.name.slice(0, 14) + ' ' + name : name;
}

/** lineTags tags the newest value of the first line of a panel, and of others far enough from it. */
function lineTags(p, pane) {
  const tags = [];
  if (p.m.compact || pane.end - pane.y < p.m.px(80)) return tags;
  const [st] = pane.studies;
  st.lines.forEach((l, i) => {
    const v = l.values[p.newest];
    const at = yOf(pane.scale, v);
    const row = Math.trunc(at);
    const near = tags.some(t => 2 * Math.abs(t.y - row) < 3 * p.m.tagH);
    if (at >= pane.legendEnd && at <= pane.end && l.style !== 'dots' && tags.length < 3 && !near) tags.push({ y: row, text: valueText(v), ink: st.lineLooks[i].ink });
  });
  return tags;
}

/** axisText writes a value as the price axis does: in percent where that is. The price of a level of the account or
 * the caller is named by itself. */
export function axisText({ mode, base, changes, data }, v, named) {
  if (mode === 'percent' && base > 0) return percentText(base, v, changes);
  return named ? namedText(data, v) : priceText(v, data.precision);
}

/** priceInk returns the colour of the price at bar i: that of its bar, or of the line that shows it. */
export const priceInk = (p, i) => (lined(p.kind) ? 'profile' : p.data.close[i] >= p.data.open[i] ? 'up' : 'down');

/** placeLabels puts tags and tick labels on the axis of a pane. Tags come first; a tick label that a tag touches is
 * not shown, its grid line stays. */
export function placeLabels(p, pane) {
  const { tagH, tickH } = p.m;
  placeTags(p, pane);
  let last = Infinity; // top of the label shown before
  for (const t of pane.ticks) {
    const free = Math.abs(t.top - last) > tickH && !pane.tags.some(g => g.top < t.top + tickH && t.top < g.top + tagH);
    t.shown = t.top >= pane.y + 1 && t.top + tickH <= pane.floor && free;
    if (t.shown) last = t.top;
  }
}

/** placeTags puts every tag at its row or, if that is taken or beyond the pane, at a free place within three tags. */
function placeTags({ m: { tagH } }, pane) {
  const [half, apart] = [Math.floor(tagH / 2), tagH + 1];
  const kept = [];
  for (const t of pane.tags) {
    const free = top => top >= pane.y + 1 && top <= pane.end - tagH && !kept.some(k => Math.abs(k.top - top) < apart);
    t.top = Math.min(Math.max(t.y - half, pane.y + 1), pane.end - tagH);
    if (!t.fixed && !free(t.top)) {
      const off = top => Math.abs(top + half - t.y);
      const places = kept.flatMap(k => [k.top - apart, k.top + apart]).filter(top => free(top) && off(top) <= 3 * apart);
      if (places.length === 0) continue;
      t.top = places.reduce((best, top) => (off(top) < off(best) ? top : best));
    }
    t.moved = Math.abs(t.top + half - t.y) > 1;
    kept.push(t);
  }
  pane.tags = kept;
}
