// Painting a plan on a canvas, from the lowest layer up. Upright and level things are whole pixels, unsmoothed.
import { axisText, isInside, priceInk } from './axis.mjs';
import { usable } from './format.mjs';
import { areaInk, barInk, coloursOf, lined, look, signedInk, toneInk } from './look.mjs';
import { linePath, marksOf, textsOf, zoneBox } from './marks.mjs';
import { backed, box, dashes, fill, frame, stroke, through, write } from './pen.mjs';
import { barX, columnAt, columnEnd, crossAt, plusAt } from './plan.mjs';
import { axisFormat, rowOf, valueAt, yOf } from './scale.mjs';
import { dateText } from './times.mjs';

/** paint draws a plan. */
export function paint(ctx, p) {
  const { m, axisX, panes } = p;
  Object.assign(p, { ctx, colours: coloursOf(p.o.theme), onTag: { ...look.on_tag.dark, ...look.on_tag[p.o.theme] } });
  ctx.setTransform(1, 0, 0, 1, 0, 0);
  box(p, 'back', 0, 0, m.w, m.h);
  if (p.data.synthetic) paintWatermark(p);
  paintGrid(p);
  for (const pane of p.i1 > p.i0 ? panes : []) {
    ctx.save();
    ctx.beginPath();
    ctx.rect(0, pane.y, axisX, pane.end - pane.y);
    ctx.clip();
    paintPane(p, pane);
    ctx.restore();
    p.dipped = undefined; // that is taken back, too
  }
  paintAxes(p);
  if (p.i1 <= p.i0) write(p, 'No bars to draw', axisX / 2 - m.px(50), (panes[0].y + panes[0].end) / 2, 'text');
  paintCross(p);
}

/** paintPane draws the data of one pane, clipped to it. */
function paintPane(p, pane) {
  paintAreas(p, pane);
  if (pane.price) {
    paintZones(p, pane);
    if (p.volume) paintVolume(p, pane);
  }
  paintLevels(p, pane);
  if (pane.price) paintPrice(p, pane);
  else paintHistograms(p, pane);
  for (const st of pane.studies.filter(st => !isCandles(st))) st.lines.forEach((l, i) => paintLine(p, pane, l, st.lineLooks[i]));
  if (pane.price) paintOwn(p, pane);
  paintDivergences(p, pane);
  paintMarks(p, pane);
}

/** paintWatermark writes across the price that the bars are invented. */
function paintWatermark(p) {
  const { m, ctx, panes: [pane] } = p;
  ctx.textAlign = 'center';
  write(p, 'SYNTHETIC DATA', p.axisX / 2, (pane.y + pane.floor) / 2, 'mark', 700, Math.min(64 * m.u, p.axisX / 12));
  ctx.textAlign = 'left';
}

function paintGrid(p) {
  const { m } = p;
  const gaps = (p.data.gaps_at ?? []).map(t => p.data.time.indexOf(t)).filter(i => i > p.i0 && i < p.i1); // bars are missing before these
  for (const pane of p.panes) {
    for (const t of pane.ticks) if (!t.level && t.y >= pane.y && t.y < pane.floor) box(p, 'grid', 0, t.y, p.axisX, m.thin);
    for (const t of p.times) box(p, t.strong ? 'strong' : 'grid', columnAt(p, t.bar), pane.y, m.thin, pane.end - pane.y);
    for (const x of gaps.map(i => Math.floor(p.x0 + i * p.pitch) - m.thin)) dashes(p, x, pane.y, x, pane.end, 4, 3, 'muted');
  }
}

/** paintAreas draws what lies lowest: shaded bars, profiles, candles of other prices, and regions between lines. */
function paintAreas(p, pane) {
  let profile = 'profile'; // of the first study that has one
  for (const st of pane.studies) {
    for (const { from, to } of st.shaded) {
      const [left, right] = [from, to + 1].map(i => Math.trunc(p.x0 + i * p.pitch));
      if (to >= p.i0 && from < p.i1) box(p, st.shade, left, pane.y, Math.max(1, right - left), pane.end - pane.y, 'fill');
    }
    paintProfile(p, pane, st.hbars, profile);
    if (st.hbars.length > 0) profile = 'osc';
    if (isCandles(st)) paintAveraged(p, pane, st.lines.map(l => l.values));
    const step = st.lines.some(l => l.style === 'step'); // then all of its fills do
    for (const f of st.fills) {
      const above = areaInk(st, f.tone);
      paintFill(p, pane, f, above, f.below ? areaInk(st, f.below) : above, step);
    }
  }
}

/** paintZones draws the caller's zones, and the area below a line of closes. */
function paintZones(p, pane) {
  for (const k of p.marks.filter(k => k.type === 'zone')) {
    const [left, top, right, bottom] = zoneBox(p, pane, k);
    const end = Math.min(bottom, pane.floor); // above the volume
    if (end > top) box(p, toneInk(k.color, 'amber'), left, top, right - left, end - top, 'weak');
  }
  if (p.kind !== 'area') return;
  const points = p.data.close.slice(p.i0, p.i1).map((v, k) => [barX(p, p.i0 + k), yOf(pane.scale, v)]);
  fill(p, 'profile', through([[points[0][0], pane.floor], ...points, [points.at(-1)[0], pane.floor]]), 'fill');
}

/** isCandles reports whether the lines of an overlay are the four prices of candles. */
const isCandles = st => Boolean(st.is_overlay) && st.lines.map(l => l.label).join() === 'Open,High,Low,Close';

/** paintAveraged draws candles of other prices under the chart's own. */
function paintAveraged(p, pane, [open, high, low, close]) {
  for (let i = p.i0; i < p.i1; i++) {
    const candle = { open: open[i], high: high[i], low: low[i], close: close[i], up: close[i] >= open[i], pale: true };
    if (usable(candle.open) && usable(candle.close)) paintCandle(p, pane.scale, candle, columnAt(p, i) - (p.wick >> 1));
  }
}

const mostProfile = 0.3; // of the plot that the longest profile bar may take

/** paintProfile draws horizontal bars from either edge; base is the ink of those without a meaning of their own. */
function paintProfile(p, pane, bars, base) {
  const longest = Math.max(1e-9, ...bars.map(b => b.width + b.offset).filter(usable));
  const unit = p.axisX * Math.min(1, mostProfile / longest);
  for (const b of bars) {
    if (!usable(b.y) || !usable(b.height) || !(b.width > 0) || !(b.offset >= 0)) continue;
    const [top, end] = [b.y + b.height / 2, b.y - b.height / 2].map(v => rowOf(pane.scale, v));
    const rows = end - top >= 3 ? end - top - 1 : end - top; // a gap between neighbours
    const from = Math.floor(b.offset * unit + 0.5);
    const width = Math.max(Math.floor((b.offset + b.width) * unit + 0.5), from + 1) - from;
    const ink = b.tone === 'band' || b.tone === 'muted' ? base : toneInk(b.tone, base);
    box(p, ink, b.left ? from : p.axisX - from - width, top, width, Math.max(rows, 1), b.tone === 'accent' ? 'poc' : b.strong ? 'strong' : 'weak');
  }
}

/** paintFill shades the region between two series, in the ink of the one that is above. Steps hold a bar's values over
 * its whole width, in the columns of its lines. */
function paintFill(p, pane, { y1, y2 }, above, below, step) {
  const end = Math.min(windowEnd(p, y1), windowEnd(p, y2));
  const pieces = { [above]: [], [below]: [] };
  for (let i = Math.max(0, p.i0 - 1); i + (step ? 0 : 1) < end; i++) {
    const next = step ? i : i + 1;
    const values = [y1[i], y2[i], y1[next], y2[next]];
    if (!values.every(usable)) continue;
    const [a1, a2, b1, b2] = values.map(v => (step ? rowOf : yOf)(pane.scale, v));
    const [xa, xb] = [i, i + 1].map(k => (step ? Math.floor(p.x0 + k * p.pitch) : barX(p, k)));
    const up = values[0] - values[1] + values[2] - values[3] >= 0; // over most of the way
    pieces[up ? above : below].push(through([[xa, a1], [xb, b1], [xb, b2], [xa, a2]]));
  }
  for (const [ink, traces] of Object.entries(pieces)) fill(p, ink, ctx => traces.forEach(trace => trace(ctx)), 'fill');
}

/** paintVolume draws the strip below the candles, scaled to the largest in the window. */
function paintVolume(p, pane) {
  const { volume, close, open } = p.data;
  const bars = [];
  groups(p, (i, j, column) => {
    let sum = 0;
    for (let k = i; k < j; k++) if (volume[k] > 0) sum += volume[k];
    if (sum > 0) bars.push({ column, sum, ink: close[j - 1] >= open[i] ? 'upVolume' : 'downVolume' });
  });
  const unit = (pane.end - pane.floor) / Math.max(...bars.map(b => b.sum));
  for (const { column, sum, ink } of bars) {
    const h = Math.max(1, Math.round(sum * unit));
    box(p, ink, bodyAt(p, column), pane.end - h, p.body, h);
  }
}

const level = (p, pane, v, on, off, ink) => dashes(p, 0, rowOf(pane.scale, v), p.axisX, rowOf(pane.scale, v), on, off, ink);

/** paintLevels draws the levels of studies as dashes, under what they are levels of. None is drawn among the volume. */
function paintLevels(p, pane) {
  const drawn = st => st.hlines.filter(h => usable(h.y) && (h.y !== 0 || st.histogram.length === 0)); // a histogram has its own zero
  for (const h of pane.studies.flatMap(drawn)) if (!pane.price || isInside(pane, h.y)) level(p, pane, h.y, 6, 4, h.ink);
}

/** paintPrice draws the bars as the chart's type has them. What is not closed yet is dashed or striped. */
function paintPrice(p, pane) {
  const { close, n, forming } = p.data;
  if (!lined(p.kind)) return groups(p, (i, j, column) => paintCandle(p, pane.scale, candleOf(p, i, j), column - (p.wick >> 1)));
  strokeValues(p, pane, close, p.m.line, 'profile', false, 0, forming ? n - 1 : n);
  if (forming && n > 1) strokeValues(p, pane, close, p.m.line, 'profile', true, n - 2);
}

/** groups calls draw(from, to, column) for each bar in the window, or once for all bars of a column of a dense chart. */
function groups(p, draw) {
  for (let i = p.i0, j; i < p.i1; i = j) {
    j = Math.min(columnEnd(p, i), p.i1);
    draw(i, j, columnAt(p, i));
  }
}

/** candleOf joins bars i to j, j excluded: the first open, the last close, the outermost high and low. */
function candleOf(p, i, j) {
  const { open, high, low, close } = p.drawn;
  const c = { open: open[i], close: close[j - 1], high: high[i], low: low[i] };
  for (let k = i + 1; k < j; k++) {
    if (high[k] > c.high) c.high = high[k];
    if (low[k] < c.low) c.low = low[k];
  }
  c.up = c.close >= (p.kind === 'hollow' && i > 0 ? close[i - 1] : c.open);
  c.forming = p.data.forming && j === p.data.n;
  return c;
}

/** paintCandle draws wick and body, or a bar with its two ticks. A body that is not closed is pale within its outline;
 * one too small to have an inside is filled in every style. */
function paintCandle(p, sc, candle, x) {
  const { m, body, wick } = p;
  const [open, close] = [rowOf(sc, candle.open), rowOf(sc, candle.close)];
  const top = Math.min(open, close);
  const height = Math.max(Math.abs(close - open), m.thin); // a doji is a line
  const [high, low] = [Math.min(rowOf(sc, candle.high), top), Math.max(rowOf(sc, candle.low), top + height)];
  const left = x - ((body - wick) >> 1);
  const ink = candle.up ? 'up' : 'down';
  const level = candle.pale ? 'strong' : undefined;
  box(p, ink, x, high, wick, low - high, level);
  if (candle.pale) return box(p, ink, left, top, body, height, level);
  if (p.kind === 'bars') {
    box(p, ink, left, open - (wick >> 1), x - left, wick);
    return box(p, ink, x + wick, close - (wick >> 1), left + body - x - wick, wick);
  }
  const room = height > 2 * wick && body >= 3 * wick;
  const hollow = p.kind === 'hollow' ? candle.close >= candle.open : p.o.theme === 'colorblind' && body >= 5 * m.thin && candle.up;
  if (!room || !(hollow || candle.forming)) return box(p, ink, left, top, body, height);
  box(p, 'back', left, top, body, height); // what lies under a body does not shine through
  if (!hollow) box(p, ink, left, top, body, height, 'strong');
  frame(p, ink, left, top, body, height, wick);
}

/** bodyAt returns where a bar of full width begins whose middle is in a column. */
const bodyAt = (p, column) => column - (p.wick >> 1) - ((p.body - p.wick) >> 1);

/** paintHistograms draws bars from zero, in four tones by sign and direction. */
function paintHistograms(p, pane) {
  const zero = rowOf(pane.scale, 0);
  for (const st of pane.studies) {
    for (const h of st.histogram) {
      const [base, values] = [barInk(h), h.values];
      let before = values[p.i0 - 1] ?? NaN;
      groups(p, (i, j, column) => {
        let v = values[i];
        for (let n = i + 1; n < j; n++) if (usable(values[n]) && !(Math.abs(values[n]) < Math.abs(v))) v = values[n];
        if (!usable(v)) return;
        let y = rowOf(pane.scale, v);
        if (v !== 0 && y === zero) y -= Math.sign(v);
        box(p, base === 'up' ? signedInk(v, before) : base, bodyAt(p, column), Math.min(zero, y), p.body, Math.abs(zero - y));
        before = v;
      });
    }
    if (st.histogram.length > 0 && !pane.scale.empty) box(p, 'sep', 0, zero, p.axisX, p.m.thin);
  }
}

/** paintLine draws one line in its style; a missing value breaks it. */
function paintLine(p, pane, { style, tone, values }, { ink, dashed }) {
  const { u, line } = p.m;
  if (style === 'step') return strokeSteps(p, pane, values, ink, dashed);
  if (style !== 'dots') return strokeValues(p, pane, values, tone === 'band' ? 0.75 * line : line, ink, dashed || style === 'dashed');
  const radius = p.pitch < 5 * u ? Math.max(u, 0.4 * p.pitch) : 2 * u;
  fill(p, ink, ctx => {
    for (let i = p.i0; i < windowEnd(p, values); i++) if (usable(values[i])) disc(ctx, barX(p, i), yOf(pane.scale, values[i]), radius);
  });
}

const dashesOf = ({ m: { u } }, dashed) => (dashed ? [6 * u, 5 * u] : []);

/** windowEnd is the end of what a line may show: one bar beyond the window, so that it does not end at its edge. */
const windowEnd = (p, values) => Math.min(values.length, Math.ceil(p.window.end) + 1);

/** strokeValues draws the unbroken runs of values between two bars. Where bars lie closer than the thinnest stroke, a
 * column keeps its first, lowest, highest and last value. */
function strokeValues(p, pane, values, width, ink, dashed, from = 0, to = Infinity) {
  const { m } = p;
  const end = Math.min(to, windowEnd(p, values));
  const y = v => yOf(pane.scale, v);
  stroke(p, ink, width, dashesOf(p, dashed), ctx => {
    ctx.lineJoin = 'round';
    let open = false; // a run has begun
    for (let i = Math.max(from, p.i0 - 1); i < end;) {
      const first = values[i];
      if (!usable(first)) {
        open = false;
        i++;
        continue;
      }
      const x = p.dense ? columnAt(p, i) + (m.thin % 2) / 2 : barX(p, i);
      if (open) ctx.lineTo(x, y(first));
      else ctx.moveTo(x, y(first));
      open = true;
      const stop = Math.min(columnEnd(p, i), end);
      let [lo, hi, last] = [first, first, first];
      for (i++; i < stop && usable(values[i]); i++) {
        last = values[i];
        if (last < lo) lo = last;
        if (last > hi) hi = last;
      }
      if (lo !== hi) for (const v of [lo, hi, last]) ctx.lineTo(x, y(v));
    }
  });
}

/** disc adds a disc to the path. */
function disc(ctx, x, y, radius) {
  ctx.moveTo(x + radius, y);
  ctx.arc(x, y, radius, 0, 2 * Math.PI);
}

/** strokeSteps draws a level for every stretch of equal values. */
function strokeSteps(p, pane, values, ink, dashed) {
  const width = Math.round(p.m.line);
  const end = windowEnd(p, values);
  stroke(p, ink, width, dashesOf(p, dashed), ctx => {
    for (let i = p.i0, j; i < end; i = j) {
      for (j = i + 1; j < end && values[j] === values[i];) j++;
      if (!usable(values[i])) continue;
      const y = rowOf(pane.scale, values[i]) + (width % 2) / 2;
      through([[Math.floor(p.x0 + i * p.pitch), y], [Math.floor(p.x0 + j * p.pitch), y]])(ctx);
    }
  });
}

/** paintOwn draws the line of the newest close, the levels of the account and the caller, and the caller's lines. */
function paintOwn(p, pane) {
  const newest = p.data.close[p.newest];
  const row = yOf(pane.scale, newest);
  if (row >= pane.y && row <= pane.floor) level(p, pane, newest, 2, 3, priceInk(p, p.newest));
  for (const l of p.levels.filter(l => isInside(pane, l.price))) {
    level(p, pane, l.price, l.on, l.off, l.ink);
    if (l.movable) paintButton(p, '×', crossAt(p), rowOf(pane.scale, l.price), l.ink);
  }
  for (const k of p.marks.filter(k => k.type === 'line')) stroke(p, toneInk(k.color, 'amber'), p.m.line, [], through(linePath(p, pane, k)));
}

/** paintDivergences draws divergence lines with discs at their ends. */
function paintDivergences(p, pane) {
  const { m } = p;
  for (const d of pane.studies.flatMap(st => st.divlines)) {
    if (Math.max(d.x1, d.x2) < p.i0 || Math.min(d.x1, d.x2) >= p.i1 || !usable(d.y1) || !usable(d.y2)) continue;
    const ends = [[barX(p, d.x1), yOf(pane.scale, d.y1)], [barX(p, d.x2), yOf(pane.scale, d.y2)]];
    const ink = toneInk(d.tone, 'amber');
    stroke(p, ink, m.line, dashesOf(p, d.dashed), through(ends));
    fill(p, ink, ctx => ends.forEach(([x, y]) => disc(ctx, x, y, (m.compact ? 2.5 : 4) * m.u)));
  }
}

/** paintMarks draws the triangles of a pane, and the texts. */
function paintMarks(p, pane) {
  const marks = marksOf(p, pane);
  for (const { x, tip, w, h, up, ink, pale } of marks) {
    const base = up ? tip + h : tip - h;
    fill(p, ink, through([[x, tip], [x - w / 2, base], [x + w / 2, base]]), pale ? 'poc' : undefined); // of half cover
  }
  for (const { text, x, y, ink, width } of textsOf(p, pane, marks)) backed(p, text, x, y, ink, width);
}

/** paintAxes draws the lines between panes and axes, the tick labels and the tags. */
function paintAxes(p) {
  const { m, axisX, timeY } = p;
  for (const pane of p.panes) box(p, 'sep', 0, pane.y, m.w, m.thin);
  box(p, 'sep', 0, timeY, m.w, m.thin);
  box(p, 'sep', axisX, 0, m.thin, timeY);
  const x = axisX + m.px(8);
  for (const pane of p.panes) {
    for (const t of pane.ticks) if (t.shown) write(p, t.text, x, t.y, 'axis', 400);
    for (const { text, y, ink, outline } of pane.tags) { // filled for prices and lines, outlined for levels
      const top = Math.round(y - m.tagH / 2);
      box(p, outline ? 'back' : ink, axisX, top, m.w - axisX, m.tagH);
      if (outline) frame(p, ink, axisX, top, m.w - axisX, m.tagH, m.thin);
      write(p, text, x, y, outline ? ink : p.onTag[ink]);
    }
  }
  const y = timeY + m.timeH / 2 + m.thin;
  if (p.firstTime) write(p, p.firstTime.text, p.firstTime.x, y, 'text', 700);
  for (const t of p.times) write(p, t.text, t.x, y, t.strong ? 'text' : 'axis', t.strong ? 700 : 400);
}

/** paintButton draws a small box with a sign, around a point. */
function paintButton(p, sign, x, y, ink) {
  const half = p.m.px(9);
  box(p, 'back', x - half, y - half, 2 * half, 2 * half);
  frame(p, ink, x - half, y - half, 2 * half, 2 * half, p.m.thin);
  write(p, sign, x - p.widthOf(sign) / 2, y, ink);
}

/** paintCross draws the crosshair with its time and value on the axes, and where there is a menu what opens it. */
export function paintCross(p) {
  const { m, cross } = p;
  if (!cross) return;
  const pad = m.px(8);
  const label = (text, left, top, width) => {
    box(p, 'muted', left, top, width, m.tagH);
    write(p, text, left + pad, top + m.tagH / 2, p.onTag.muted);
  };
  const x = Math.round(cross.x ?? columnAt(p, cross.bar));
  dashes(p, x, 0, x, p.timeY, 3, 3, 'muted');
  const when = dateText(p.data.walls[cross.bar].wall, p.data.seconds);
  const long = p.widthOf(when) + 2 * pad;
  if (cross.x === undefined) label(when, Math.min(Math.max(barX(p, cross.bar) - long / 2, 0), p.axisX - long), p.timeY + m.thin, long);
  const y = Math.round(cross.y);
  const pane = p.panes.find(q => y >= q.y && y < q.end);
  if (!pane || pane.scale.empty) return;
  dashes(p, 0, y, p.axisX, y, 3, 3, 'muted');
  if (pane.price && p.o.onMenu && y < pane.floor) paintButton(p, '+', plusAt(p), y, 'text');
  const v = valueAt(pane.scale, cross.y);
  const exponent = Math.floor(Math.log10(Math.abs(pane.scale.hi - pane.scale.lo) / 100));
  const text = pane.price ? axisText(p, v) : axisFormat(Math.abs(v), exponent, true)(v);
  const left = Math.min(p.axisX, m.w - p.widthOf(text) - 2 * pad); // wider than all that the axis shows
  label(text, left, Math.round(y - m.tagH / 2), m.w - left);
}
