// The plan of a chart: which rows and columns everything has, worked out from the data,
// the options and the window, before anything is painted. With all bars in the window
// it is the plan of the picture that the server draws.
import { levelText, percentText, priceText, signed, usable, valueText } from './format.mjs';
import { paneLooks, toneInk } from './inks.mjs';
import { arrange, bodiesOf, columnsOf, heights, metricsOf } from './layout.mjs';
import { axisFormat, expSpan, fit, isEmpty, joined, logSpan, logTicks, logarithmic, noSpan, roundTicks, rowOf, tickAt, valueAt, widen, widenAll, yOf } from './scale.mjs';
import { heikinAshi } from './series.mjs';
import { countDays, dateText, timeTicks, wallTimes } from './times.mjs';

/** wholeWindow returns the window that shows the newest bars, and the bars to come that
 * overlays have values for. */
export function wholeWindow(data, bars) {
  let ahead = 0;
  const shown = Math.min(bars, data.n);
  for (const st of data.studies) {
    if (st.overlay) for (const l of st.lines) ahead = Math.max(ahead, Math.min(l.ahead.length, Math.floor(shown / 2)));
  }
  return { end: data.n + ahead, count: shown + ahead };
}

/** makePlan measures the chart of data in a window: {end, count} in bars. Options are
 * width, height, ratio, theme, type, scale, signals, volume, zone, levels (own prices
 * with text, ink, on, off) and measure(text, size, weight), which returns a width. */
export function makePlan(data, o, window) {
  const m = metricsOf(o.width, o.height, o.ratio);
  const p = { data, o, m, window, mode: data.compare.length > 0 ? 'percent' : o.scale ?? 'linear', kind: o.type ?? 'candles' };
  p.i0 = Math.max(0, Math.floor(window.end - window.count));
  p.i1 = Math.min(data.n, Math.ceil(window.end));
  p.last = lastValid(data, p.i1);
  p.base = firstClose(data, p.i0, p.i1);
  p.drawn = drawnPrices(data, p.kind);
  p.levels = o.levels ?? [];
  split(p);
  for (const pane of p.panes) paneLooks(pane.studies, o.theme, pane.price);
  if (p.mode !== 'linear' && !scalable(p)) p.mode = 'linear';
  setScales(p);
  measureAxis(p);
  placeBars(p);
  for (const pane of p.panes) placeLabels(p, pane);
  placeTimes(p);
  return p;
}

/** lastValid returns the newest bar before end that can be drawn; -1 for none. */
function lastValid(data, end) {
  for (let i = end - 1; i >= 0; i--) if (data.valid[i]) return i;
  return -1;
}

function firstClose(data, from, to) {
  for (let i = from; i < to; i++) if (data.valid[i]) return data.close[i];
  return NaN;
}

/** drawnPrices returns what the chart's type makes of the bars. */
function drawnPrices(data, kind) {
  if (kind === 'line' || kind === 'area') return { open: data.close, high: data.close, low: data.close, close: data.close };
  if (kind !== 'heikin_ashi') return data;
  data.averaged ??= heikinAshi(data);
  return data.averaged;
}

/** split gives the rows to the header, the price, the panels that fit and the time
 * axis. */
function split(p) {
  const { m, data } = p;
  const overlays = data.studies.filter(st => st.overlay);
  const panels = data.studies.filter(st => !st.overlay);
  p.headerEnd = m.headerH;
  p.timeY = m.h - m.timeH;
  const free = p.timeY - p.headerEnd;
  const share = heights(m, free, panels.length);
  p.omitted = panels.length - share.fit;
  const studies = data.compare.length > 0 ? [...overlays, compareStudy(p)] : overlays;
  p.panes = [{ price: true, studies }, ...panels.slice(0, share.fit).map(st => ({ price: false, studies: [st] }))];
  p.volume = data.hasVolume && p.o.volume !== false;
  p.panes.forEach((pane, i) => {
    const y = i === 0 ? p.headerEnd : p.headerEnd + share.price + (i - 1) * share.panel;
    arrange(m, pane, y, i === 0 ? share.price : share.panel, pane.studies.length, i === 0 && p.volume);
  });
}

/** compareStudy returns other symbols as lines, moved so that all begin at the first
 * close of the window. */
function compareStudy(p) {
  const lines = p.data.compare.map(c => {
    let first = NaN;
    for (let i = p.i0; i < p.i1 && !(first > 0); i++) first = c.values[i];
    return { label: c.symbol, values: c.values.map(v => (v / first) * p.base), ahead: [] };
  });
  return { key: 'compare', label: 'Compared', overlay: true, compare: true, lines, histogram: [], fills: [], signals: [], hlines: [], hbars: [], divlines: [] };
}

/** scalable reports whether the prices in the window allow another scale than linear. */
function scalable(p) {
  const s = noSpan();
  for (const name of ['open', 'high', 'low', 'close']) widenAll(s, p.data[name], p.i0, p.i1);
  return s.lo > 0 && s.hi / s.lo <= 1e9;
}

const overlayRoom = 0.5; // how far an overlay may widen the range of the candles

function setScales(p) {
  for (const pane of p.panes) {
    if (!pane.price) {
      let s = panelSpan(pane.studies[0], p.i0, p.i1);
      if (isEmpty(s)) for (const v of [...pane.studies[0].hlines.map(h => h.y), ...(pane.studies[0].hlines.length ? [] : [0])]) widen(s, v);
      pane.scale = fit(s, pane.top, pane.bottom, 0);
      continue;
    }
    pane.scale = fit(priceSpan(p, pane), pane.top, pane.bottom, 10 ** -p.data.precision);
    if (p.mode === 'log' && pane.scale.lo > 0) pane.scale = logarithmic(pane.scale);
  }
}

/** priceSpan returns the range of the candles, widened for overlays. */
function priceSpan(p, pane) {
  const bars = noSpan();
  const over = noSpan();
  const { high, low, open, close } = p.drawn;
  for (let i = p.i0; i < p.i1; i++) {
    if (!p.data.valid[i]) continue;
    widen(bars, high[i]);
    widen(bars, low[i]);
    widen(bars, open[i]);
    widen(bars, close[i]);
  }
  if (p.last >= 0) widen(bars, p.data.close[p.last]);
  for (const st of pane.studies) {
    for (const l of st.lines) {
      widenAll(st.compare ? bars : over, l.values, p.i0, p.i1);
      widenAll(over, l.ahead, 0, p.window.end - p.data.n);
    }
    for (const h of st.hlines) widen(over, h.y);
  }
  for (const l of p.levels) widen(over, l.price);
  if (p.mode === 'log' && bars.lo > 0) return expSpan(joined(logSpan(bars), logSpan(over), overlayRoom));
  return joined(bars, over, overlayRoom);
}

/** panelSpan returns the range of a panel: that of its values, and where these are
 * bounded that of its levels too. Histograms stand on zero. */
function panelSpan(st, from, to) {
  const s = noSpan();
  for (const l of st.lines) widenAll(s, l.values, from, to);
  for (const h of st.histogram) {
    widenAll(s, h.values, from, to);
    if (!isEmpty(s)) widen(s, 0);
  }
  if (!st.bounded) return s;
  const [lo, hi] = st.range;
  if (!(s.lo < s.hi)) return { lo, hi };
  for (const h of st.hlines) widen(s, h.y);
  const cut = { lo: Math.max(s.lo, lo), hi: Math.min(s.hi, hi) };
  return cut.lo < cut.hi ? cut : { lo, hi };
}

/** measureAxis writes ticks and tags and from the widest settles the width of the axis,
 * the same for all panes. While the window moves it only grows: o.axis is its width
 * before. */
function measureAxis(p) {
  const { m, o } = p;
  let widest = o.axis ?? 0;
  for (const pane of p.panes) {
    pane.ticks = p.i1 > p.i0 && !pane.scale.empty ? ticksOf(p, pane) : [];
    pane.tags = p.i1 > p.i0 && !pane.scale.empty ? tagsOf(p, pane) : [];
    for (const t of pane.ticks) widest = Math.max(widest, o.measure(t.text, m.axis, 400));
    for (const t of pane.tags) widest = Math.max(widest, o.measure(t.text, m.tag, 500));
  }
  p.axisWidth = widest;
  p.axisX = m.w - Math.min(Math.max(Math.ceil(widest) + m.either(10, 16), m.px(44)), Math.floor(m.w / 2));
}

/** ticksOf chooses the values of a pane's axis. */
function ticksOf(p, pane) {
  return !pane.price && pane.studies[0].hlines.length > 0 ? levelTicks(p, pane) : roundValues(p, pane);
}

function tickOf(sc, value, text, level) {
  return { value, y: rowOf(sc, value), text, level: level === true, shown: false };
}

/** roundValues returns ticks at round values over the rows data may take. */
function roundValues(p, pane) {
  const { m } = p;
  const sc = pane.scale;
  if (sc.zero) return [tickOf(sc, 0, '0')];
  let lo = valueAt(sc, pane.floor);
  let hi = valueAt(sc, pane.legendEnd);
  if (!pane.price && pane.studies[0].bounded) {
    lo = Math.max(lo, pane.studies[0].range[0]);
    hi = Math.min(hi, pane.studies[0].range[1]);
  }
  const apart = m.compact ? 24 : pane.price ? 28 : 26;
  const room = { apart: apart * m.u, font: m.axis, decimals: pane.price ? p.data.precision : 10, height: yOf(sc, lo) - yOf(sc, hi) };
  if (pane.price && p.mode === 'percent' && p.base > 0) return percentTicks(p, sc, lo, hi, room);
  if (sc.log && hi / lo > 2) return logTicks(lo, hi, room).map(v => tickOf(sc, v, levelText(v)));
  const t = roundTicks(lo, hi, room);
  const write = axisFormat(Math.max(Math.abs(lo), Math.abs(hi)), t.exponent, !pane.price);
  const out = [];
  for (let k = t.first; k <= t.last; k++) out.push(tickOf(sc, tickAt(t, k), write(tickAt(t, k))));
  return out;
}

/** percentTicks returns ticks at round changes from the first close in the window. */
function percentTicks(p, sc, lo, hi, room) {
  const percent = v => ((v - p.base) / p.base) * 100;
  const t = roundTicks(percent(lo), percent(hi), { ...room, decimals: 2 });
  const out = [];
  for (let k = t.first; k <= t.last; k++) {
    const text = signed(tickAt(t, k), Math.min(Math.max(0, -t.exponent), 10)) + '%';
    out.push(tickOf(sc, p.base * (1 + tickAt(t, k) / 100), text));
  }
  return out;
}

/** levelTicks labels the levels of an oscillator, outermost first, and round values
 * where there is room. */
function levelTicks(p, pane) {
  const sc = pane.scale;
  const ys = pane.studies[0].hlines.map(h => h.y).filter(y => usable(y) && y >= sc.lo && y <= sc.hi);
  const levels = [...new Set(ys)].sort((a, b) => a - b);
  const ticks = [];
  const add = t => {
    const gap = t.level ? Math.floor(1.15 * p.m.axis) : 2 * p.m.axis;
    if (ticks.every(other => Math.abs(other.y - t.y) >= gap)) ticks.push(t);
  };
  for (let lo = 0, hi = levels.length - 1; lo <= hi; lo++, hi--) {
    add(tickOf(sc, levels[hi], levelText(levels[hi]), true));
    if (lo < hi) add(tickOf(sc, levels[lo], levelText(levels[lo]), true));
  }
  const round = roundValues(p, pane);
  round.forEach(add);
  const fits = t => tickTop(p, t) > pane.y && tickTop(p, t) + tickHeight(p) <= pane.floor;
  return ticks.filter(fits).length < 2 ? round : ticks;
}

/** A tick label is close about its digits, which are 0.72 of the text size high. */
function tickHeight(p) {
  return 2 * (Math.floor((p.m.axis * 36 + 50) / 100) + 1);
}

function tickTop(p, t) {
  return t.y - tickHeight(p) / 2;
}

const mostLevels = 8; // levels of a pane that get a tag: those nearest to the last price

/** tagsOf writes the tags of a pane: on the price the last close and the levels, on a
 * panel the last value of its lines. */
function tagsOf(p, pane) {
  if (!pane.price) return lineTags(p, pane);
  const closed = p.data.close[p.last];
  const tags = [{ y: rowOf(pane.scale, closed), text: axisText(p, closed), ink: priceInk(p, p.last), fixed: true }];
  const inside = v => usable(v) && yOf(pane.scale, v) >= pane.legendEnd && yOf(pane.scale, v) <= pane.floor;
  const levels = [];
  for (const st of pane.studies) {
    st.lines.forEach((l, i) => {
      const v = l.values[p.last];
      if (!st.compare || !usable(v)) return;
      const text = percentText(p.base, v);
      tags.push({ y: rowOf(pane.scale, v), text: p.m.compact ? text : l.label + ' ' + text, ink: st.lineLooks[i].ink });
    });
    for (const h of st.hlines) if (inside(h.y)) levels.push({ price: h.y, text: levelName(pane, st, h), ink: toneInk(h.tone, 'band') });
  }
  for (const l of p.levels) if (inside(l.price)) tags.push({ y: rowOf(pane.scale, l.price), text: axisText(p, l.price), ink: l.ink, outline: true });
  levels.sort((a, b) => Math.abs(a.price - closed) - Math.abs(b.price - closed));
  for (const l of levels.slice(0, mostLevels)) {
    const text = axisText(p, l.price);
    tags.push({ y: rowOf(pane.scale, l.price), text: l.text && !p.m.compact ? l.text + ' ' + text : text, ink: l.ink, outline: true });
  }
  return tags;
}

/** levelName returns the name of a level. Where another study of the pane has a level
 * of that name, its own study's name comes first. */
function levelName(pane, st, level) {
  const name = (level.label ?? '').slice(0, 12);
  const twice = name && pane.studies.some(other => other !== st && other.hlines.some(h => h.label === level.label));
  return twice ? studyName(st).slice(0, 14) + ' ' + name : name;
}

/** lineTags tags the first line of a panel, and others far enough from it. */
function lineTags(p, pane) {
  const tags = [];
  if (p.m.compact || pane.end - pane.y < p.m.px(80)) return tags;
  const st = pane.studies[0];
  st.lines.forEach((l, i) => {
    const v = l.values[p.last];
    const y = yOf(pane.scale, v);
    if (!usable(v) || l.style === 'dots' || y < pane.legendEnd || y > pane.end) return;
    const row = Math.trunc(y);
    const near = tags.some(t => 2 * Math.abs(t.y - row) < 3 * p.m.tagH);
    if (tags.length < 3 && !near) tags.push({ y: row, text: valueText(v), ink: st.lineLooks[i].ink });
  });
  return tags;
}

/** axisText writes a value as the price axis does: in percent where that is. */
export function axisText(p, v) {
  return p.mode === 'percent' && p.base > 0 ? percentText(p.base, v) : priceText(v, p.data.precision);
}

/** priceInk returns the colour of the price at bar i: that of its bar, or of the line
 * that shows it. */
export function priceInk(p, i) {
  if (p.kind === 'line' || p.kind === 'area') return 'profile';
  return p.data.close[i] >= p.data.open[i] ? 'up' : 'down';
}

/** placeBars settles the columns of bars. */
function placeBars(p) {
  const { x0, pitch } = columnsOf(p.m, p.axisX, p.window.count);
  p.pitch = pitch;
  p.x0 = x0 - (p.window.end - p.window.count) * pitch; // where bar 0 would begin
  Object.assign(p, bodiesOf(p.m, pitch));
  p.dense = pitch < p.m.thin;
}

/** barX returns the middle of bar i. */
export function barX(p, i) {
  return p.x0 + (i + 0.5) * p.pitch;
}

/** columnAt returns the pixel column of the middle of bar i. Columns of a dense chart
 * are as far apart as the thinnest stroke is wide. */
export function columnAt(p, i) {
  const x = Math.floor(barX(p, i));
  return !p.dense || p.m.thin === 1 ? x : Math.floor(x / p.m.thin) * p.m.thin + Math.floor(p.m.thin / 2);
}

/** columnEnd returns the first bar after i that stands in another column. */
export function columnEnd(p, i) {
  if (!p.dense) return i + 1;
  const edge = columnAt(p, i) - (p.m.thin >> 1) + p.m.thin;
  return Math.max(i + 1, Math.ceil((edge - p.x0) / p.pitch - 0.5));
}

/** barAt returns the bar at column x, within the data. */
export function barAt(p, x) {
  return Math.min(Math.max(Math.floor((x - p.x0) / p.pitch), p.i0), p.i1 - 1);
}

/** placeLabels puts tags and tick labels on the axis of a pane. Tags come first and
 * stay at their values; a tick label that a tag touches is not shown, its grid line
 * stays. */
function placeLabels(p, pane) {
  placeTags(p, pane);
  while (showTicks(p, pane) < 2 && !pane.price && pane.tags.length > 1) pane.tags.pop();
  if (!pane.price && pane.ticks.length > 0 && showTicks(p, pane) === 0 && pane.tags.length > 0) {
    pane.ticks.push(...roundValues(p, pane)); // the tag of a low panel hides all its levels
    pane.ticks.sort((a, b) => a.y - b.y);
    showTicks(p, pane);
  }
}

/** placeTags drops a tag that would touch one placed before it or leave the pane: beside
 * its value it would tell a wrong one. The last price is always kept. */
function placeTags(p, pane) {
  const half = Math.floor(p.m.tagH / 2);
  const kept = [];
  for (const t of pane.tags) {
    const y = Math.min(Math.max(t.y, pane.y + 1 + half), pane.end - p.m.tagH + half);
    t.top = y - half;
    const touches = kept.some(k => Math.abs(k.top - t.top) <= p.m.tagH);
    if (t.fixed || (Math.abs(y - t.y) <= 1 && !touches)) kept.push(t);
  }
  pane.tags = kept;
}

/** showTicks settles which labels of a pane are shown and counts them. */
function showTicks(p, pane) {
  let last; // top of the label shown before
  let shown = 0;
  const h = tickHeight(p);
  for (const t of pane.ticks) {
    const top = tickTop(p, t);
    const free = last === undefined || top >= last + h + 1 || top + h <= last - 1;
    t.shown = top >= pane.y + 1 && top + h <= pane.floor && free && !pane.tags.some(g => g.top < top + h && top < g.top + p.m.tagH);
    if (!t.shown) continue;
    last = top;
    shown++;
  }
  return shown;
}

/** placeTimes writes the time axis: the full date of the first bar in the window, then
 * ticks. */
function placeTimes(p) {
  const { data, o, m } = p;
  p.times = [];
  p.breaks = [];
  if (p.i1 <= p.i0) return;
  if (!data.walls || data.zone !== o.zone) {
    data.walls = wallTimes(data.time, data.seconds, o.zone);
    data.zone = o.zone;
    countDays(data.walls);
  }
  const bars = data.walls.slice(p.i0, p.i1);
  const text = dateText(bars[0].wall, 86400);
  const width = o.measure(text, m.axis, 700);
  const x = Math.max(m.px(4), Math.min(columnAt(p, p.i0) - Math.floor(width / 2), p.axisX - width - m.px(4)));
  p.firstTime = { text, x, width };
  const axis = {
    bars, interval: data.seconds, apart: (m.compact ? 52 : 74) * m.u, gap: m.px(10), firstEnd: x + width, right: p.axisX - m.px(2),
    column: i => columnAt(p, p.i0 + i), width: (text, strong) => o.measure(text, m.axis, strong ? 700 : 400),
  };
  p.times = timeTicks(axis, p.pitch).map(t => ({ ...t, bar: t.bar + p.i0 }));
  placeBreaks(p, bars);
}

/** placeBreaks notes where days begin, if a zone was asked for, bars are shorter than a
 * day, and days are wide enough to be told apart. */
function placeBreaks(p, bars) {
  if (!p.o.zone || p.o.zone === 'UTC' || p.data.seconds >= 86400) return;
  const marked = new Set(p.times.map(t => t.bar));
  const breaks = [];
  let days = 0;
  for (let i = 1; i < bars.length; i++) {
    if (bars[i].full === bars[i - 1].full) continue;
    days++;
    if (!marked.has(p.i0 + i)) breaks.push(Math.floor(p.x0 + (p.i0 + i) * p.pitch));
  }
  if (days * 40 * p.m.u <= p.axisX) p.breaks = breaks;
}

/** studyName writes "MACD(12, 26, 9)" as "MACD 12 26 9". Parameters that name the lines
 * one by one are left to these. */
export function studyName(st) {
  const [name, rest] = st.label.slice(0, 48).split('(', 2);
  if (rest === undefined) return name;
  const words = rest.replace(/\)$/, '').split(/[, ]+/).filter(w => w);
  const named = st.lines.length > 1 && st.lines.every(l => words.includes(l.label));
  return named ? name.trim() : name.trim() + ' ' + words.join(' ');
}
