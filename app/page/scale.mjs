// Values and rows. A span is a range of values, a scale maps one to rows, and ticks are the values worth a label.
import { exponentText, fixedText, usable } from './format.mjs';
import { look } from './look.mjs';

const far = 1e6; // rows beyond this are outside any screen

/** noSpan returns a range that holds nothing, which isEmpty reports. */
const noSpan = () => ({ lo: Infinity, hi: -Infinity });
export const isEmpty = s => s.lo > s.hi;

/** widen makes a range hold v; what cannot be drawn does not count. */
export function widen(s, v) {
  if (!usable(v)) return;
  if (v < s.lo) s.lo = v;
  if (v > s.hi) s.hi = v;
}

/** spanOf returns the range of lists of values from one index to another, end excluded. */
export function spanOf(lists, from, to) {
  const s = noSpan();
  for (const values of lists) for (let i = from; i < Math.min(to, values.length); i++) widen(s, values[i]);
  return s;
}

/** joined returns s widened by t, on each side by at most part of its size, or an overlay could flatten the candles. */
export function joined(s, t, part) {
  if (isEmpty(t)) return s;
  const room = (s.hi - s.lo) * part;
  return { lo: Math.min(s.lo, Math.max(t.lo, s.lo - room)), hi: Math.max(s.hi, Math.min(t.hi, s.hi + room)) };
}

/** logSpan returns the logarithms of a range; expSpan takes them back. */
export const logSpan = s => (s.hi > 0 ? { lo: Math.log(Math.max(s.lo, s.hi * 1e-12)), hi: Math.log(s.hi) } : noSpan());
export const expSpan = s => ({ lo: Math.exp(s.lo), hi: Math.exp(s.hi) });

/** fit returns the scale that shows a range between two rows. A range of nothing is opened by half a percent, or five
 * units of the price's last digit. */
export function fit(s, top, bottom, unit) {
  const empty = isEmpty(s);
  const { lo, hi } = empty ? { lo: 0, hi: 1 } : s;
  const sc = { lo, hi, top, bottom: Math.max(bottom, top + 1), empty, log: false };
  const size = Math.max(Math.abs(lo), Math.abs(hi));
  if (hi - lo > size * 1e-12) return sc; // else the difference is rounding, not price
  const by = size === 0 ? 1 : Math.max(size * 0.005, 5 * unit);
  return { ...sc, lo: lo - by, hi: hi + by };
}

/** logarithmic returns a scale with equal heights for equal ratios. */
export const logarithmic = sc => ({ ...sc, log: true, logLo: Math.log(sc.lo), logHi: Math.log(sc.hi) });

/** yOf returns the row of v, which may lie outside the panel; zero and below are far below any logarithmic one. */
export function yOf(sc, v) {
  let part = (sc.hi - v) / (sc.hi - sc.lo);
  if (sc.log) part = v > 0 ? (sc.logHi - Math.log(v)) / (sc.logHi - sc.logLo) : far;
  return Math.min(Math.max(sc.top + part * (sc.bottom - sc.top), -far), far);
}

/** rowOf returns the pixel boundary nearest to v. */
export const rowOf = (sc, v) => Math.floor(yOf(sc, v) + 0.5);

/** valueAt returns the value at row y, and rangeAt those between two rows. */
export function valueAt(sc, y) {
  const part = (y - sc.top) / (sc.bottom - sc.top);
  return sc.log ? Math.exp(sc.logHi - part * (sc.logHi - sc.logLo)) : sc.hi - part * (sc.hi - sc.lo);
}
export const rangeAt = (sc, top, bottom) => ({ lo: valueAt(sc, bottom), hi: valueAt(sc, top) });

/** roundTicks returns the round values from lo to hi, {values, exponent}: multiples of 1, 2 or 5 times that power of ten
 * which are at least so far apart. It divides by a whole power of ten, which gives exactly 0.3 where multiplying by
 * 0.1 would not. */
export function roundTicks(lo, hi, apart) {
  const e = Math.floor(Math.log10(apart));
  const [mantissa, exponent] = [[1, e], [2, e], [5, e]].find(([m]) => m * 10 ** e >= apart) ?? [1, e + 1];
  const valueOf = k => (exponent < 0 ? (k * mantissa) / 10 ** -exponent : k * mantissa * 10 ** exponent);
  const first = Math.ceil(lo / valueOf(1) - 1e-9);
  const last = Math.floor(hi / valueOf(1) + 1e-9);
  return { exponent, values: Array.from({ length: last - first + 1 }, (_, i) => valueOf(first + i)) };
}

/** logTicks returns round values between lo and hi, both above 0, for a logarithmic scale: the densest pattern of
 * leading digits whose neighbours are at least that part of the rows apart. */
export function logTicks(lo, hi, part) {
  const distance = digits => Math.min(...digits.map((d, i) => Math.log10((digits[i + 1] ?? 10) / d))); // the least, in decades
  const digits = look.digits.find(digits => digits.length === 1 || distance(digits) / Math.log10(hi / lo) >= part);
  const values = [];
  for (let e = Math.floor(Math.log10(lo)); e <= Math.log10(hi); e++) values.push(...digits.map(d => (e < 0 ? d / 10 ** -e : d * 10 ** e)));
  return values.filter(v => v >= lo && v <= hi);
}

/** axisFormat returns a function that writes the labels of one axis, for values up to size with a step of 10^exponent.
 * Panels shorten millions; prices do not. Those of tiny prices have exponents. */
export function axisFormat(size, exponent, short, small) {
  const unit = short && size >= 1e6 ? look.units.find(u => size >= u.size) : undefined;
  let write = v => fixedText(v, Math.max(0, -exponent));
  if (size >= 1e15 || -exponent > 10 || small) write = v => exponentText(v, Math.max(0, Math.floor(Math.log10(size)) - exponent));
  else if (unit) write = v => fixedText(v / unit.size, Math.max(0, Math.round(Math.log10(unit.size)) - exponent)) + unit.letter;
  return v => (v === 0 ? '0' : write(v));
}
