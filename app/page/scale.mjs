// Values and rows. A span is a range of values, a scale maps one to rows, and
// roundTicks and logTicks choose the values worth a label. None of it knows what
// the values mean or how they are painted.
import { exponentText, fixedText, usable } from './format.mjs';
import { look } from './look.mjs';

const far = 1e6; // rows beyond this are outside any screen

/** noSpan returns a range that holds nothing. */
export function noSpan() {
  return { lo: Infinity, hi: -Infinity };
}

/** widen makes a range hold v; what cannot be drawn does not count. */
export function widen(s, v) {
  if (!usable(v)) return;
  if (v < s.lo) s.lo = v;
  if (v > s.hi) s.hi = v;
}

/** widenAll makes a range hold the values from one index to another, end excluded. */
export function widenAll(s, values, from, to) {
  for (let i = Math.max(0, from); i < Math.min(to, values.length); i++) widen(s, values[i]);
}

/** isEmpty reports whether a range holds nothing. */
export function isEmpty(s) {
  return s.lo > s.hi;
}

/** joined returns s widened by t, on each side by at most part of its own size: a
 * far-off overlay is cut rather than flattening the candles. */
export function joined(s, t, part) {
  if (isEmpty(t)) return { ...s };
  const room = (s.hi - s.lo) * part;
  return { lo: Math.min(s.lo, Math.max(t.lo, s.lo - room)), hi: Math.max(s.hi, Math.min(t.hi, s.hi + room)) };
}

/** logSpan returns the logarithms of a range; expSpan takes them back. */
export function logSpan(s) {
  if (isEmpty(s) || !(s.hi > 0)) return noSpan();
  return { lo: Math.log(Math.max(s.lo, s.hi * 1e-12)), hi: Math.log(s.hi) };
}

export function expSpan(s) {
  return { lo: Math.exp(s.lo), hi: Math.exp(s.hi) };
}

/** fit returns the scale that shows a range between two rows. A range of nothing is
 * opened by half a percent, or five units of the price's last digit. */
export function fit(s, top, bottom, unit) {
  const sc = { lo: s.lo, hi: s.hi, top, bottom: Math.max(bottom, top + 1), zero: false, empty: false, log: false };
  if (isEmpty(s)) {
    sc.lo = 0;
    sc.hi = 1;
    sc.empty = true;
  }
  const size = Math.max(Math.abs(sc.lo), Math.abs(sc.hi));
  if (sc.hi - sc.lo <= size * 1e-12) { // the difference is rounding, not price
    let by = Math.max(size * 0.005, 5 * unit);
    if (size === 0) {
      by = 1;
      sc.zero = true;
    }
    sc.lo -= by;
    sc.hi += by;
  }
  return sc;
}

/** logarithmic returns a scale with equal heights for equal ratios. */
export function logarithmic(sc) {
  return { ...sc, log: true, logLo: Math.log(sc.lo), logHi: Math.log(sc.hi) };
}

/** yOf returns the row of v, which may lie outside the panel. On a logarithmic scale
 * zero and below are infinitely far down. */
export function yOf(sc, v) {
  let part = (sc.hi - v) / (sc.hi - sc.lo);
  if (sc.log) part = v > 0 ? (sc.logHi - Math.log(v)) / (sc.logHi - sc.logLo) : far;
  return Math.min(Math.max(sc.top + part * (sc.bottom - sc.top), -far), far);
}

/** rowOf returns the pixel boundary nearest to v. */
export function rowOf(sc, v) {
  return Math.floor(yOf(sc, v) + 0.5);
}

/** valueAt returns the value at row y. */
export function valueAt(sc, y) {
  const part = (y - sc.top) / (sc.bottom - sc.top);
  if (sc.log) return Math.exp(sc.logHi - part * (sc.logHi - sc.logLo));
  return sc.hi - part * (sc.hi - sc.lo);
}

/** tickAt returns tick k of a set. Dividing by a whole power of ten keeps 0.3 what it
 * is. */
export function tickAt(t, k) {
  const m = k * t.mantissa;
  if (t.exponent < -300) return (m * 1e-300) / 10 ** (-t.exponent - 300);
  return t.exponent < 0 ? m / 10 ** -t.exponent : m * 10 ** t.exponent;
}

const fewTicks = 6; // an axis should have so many
const manyTicks = 20; // and not more than these

/** roundTicks chooses ticks for the values lo to hi: the smallest step of 1, 2, 2.5
 * or 5 times a power of ten that keeps the distance. Too few are moved closer as
 * long as labels stay apart, too many further apart. */
export function roundTicks(lo, hi, room) {
  let d = room.apart;
  for (let round = 0; round < 64; round++) {
    const t = stepTicks(lo, hi, ((hi - lo) * d) / Math.max(room.height, 1), room.decimals);
    const n = t.last - t.first + 1;
    if ((n < fewTicks && d > 1.6 * room.font) || (n < 3 && d > 0.6 * room.font)) d *= 0.8;
    else if (n > manyTicks) d *= 1.3;
    else return t;
  }
  return stepTicks(lo, hi, hi - lo, 0);
}

/** stepTicks returns the ticks whose step is at least raw. */
function stepTicks(lo, hi, raw, decimals) {
  const e = Math.floor(Math.log10(raw));
  const unit = 10 ** e;
  let t = { mantissa: 1, exponent: e + 1 }; // above the largest comes the 1 of the next decade
  for (const s of [{ mantissa: 1, exponent: e }, { mantissa: 2, exponent: e }, { mantissa: 25, exponent: e - 1 }, { mantissa: 5, exponent: e }]) {
    const size = s.mantissa * 10 ** (s.exponent - e);
    if (size * unit >= raw * (1 - 1e-9) && (s.mantissa !== 25 || -s.exponent <= decimals)) {
      t = s;
      break;
    }
  }
  const step = tickAt(t, 1);
  return { ...t, first: Math.ceil(lo / step - 1e-9), last: Math.floor(hi / step + 1e-9) };
}

/** logTicks returns round values between lo and hi, both above 0, for a logarithmic
 * scale: the densest pattern of leading digits whose neighbours keep the distance. */
export function logTicks(lo, hi, room) {
  const decades = Math.log10(hi / lo);
  for (const digits of look.digits) {
    let least = Math.log10(10 / digits[digits.length - 1]);
    for (let i = 1; i < digits.length; i++) least = Math.min(least, Math.log10(digits[i] / digits[i - 1]));
    if ((least / decades) * room.height < room.apart && digits.length > 1) continue;
    const values = [];
    for (let e = Math.floor(Math.log10(lo)); e <= Math.log10(hi) && values.length < 64; e++) {
      for (const d of digits) {
        const v = e < 0 ? d / 10 ** -e : d * 10 ** e;
        if (v >= lo && v <= hi) values.push(v);
      }
    }
    return values;
  }
  return [];
}

/** axisFormat returns a function that writes the labels of one axis, for values up to
 * size with a step of 10^exponent. Panels shorten millions; prices do not. */
export function axisFormat(size, exponent, short) {
  if (size >= 1e15 || -exponent > 10) {
    const d = Math.max(0, Math.floor(Math.log10(size)) - exponent);
    return v => (v === 0 ? '0' : exponentText(v, d));
  }
  const unit = short && size >= 1e6 ? look.units.find(u => size >= u.size) : undefined;
  if (unit) {
    const d = Math.max(0, Math.round(Math.log10(unit.size)) - exponent);
    return v => (v === 0 ? '0' : fixedText(v / unit.size, d) + unit.letter);
  }
  return v => (v === 0 ? '0' : fixedText(v, Math.max(0, -exponent)));
}
