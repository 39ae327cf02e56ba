// Numbers as text, as the pictures write them: prices with the decimals of their
// series, values of panels with three significant digits, volumes with a letter,
// changes in percent.
import { look } from './look.mjs';

/** What stands where a number is missing. */
export const noValue = '–';

/** usable reports whether v can be drawn; beyond 1e300 a difference overflows. */
export function usable(v) {
  return v !== null && Math.abs(v) < 1e300; // false for NaN and undefined
}

/** decimalText writes v, not negative, with d decimals, halves to the even digit. */
function decimalText(v, d) {
  const unit = 10 ** d;
  const x = v * unit;
  const floor = Math.floor(x);
  // toFixed rounds a half up; pictures round it to even. Only an exact half counts.
  if (x - floor === 0.5 && floor % 2 === 0 && x / unit === v && x < 2 ** 52) return (floor / unit).toFixed(d);
  return v.toFixed(d);
}

/** fixedText writes v with d decimals, commas between thousands, and a real minus
 * that never stands before a zero. */
export function fixedText(v, d) {
  const digits = decimalText(Math.abs(v), d);
  const [whole, part] = digits.split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  const minus = v < 0 && /[1-9]/.test(digits) ? '−' : '';
  return minus + grouped + (part === undefined ? '' : '.' + part);
}

/** exponentText writes v as 1.234e-11, with d digits after the point. */
export function exponentText(v, d) {
  const [mantissa, exponent] = Math.abs(v).toExponential(Math.min(Math.max(d, 0), 12)).split('e');
  return (v < 0 ? '−' : '') + mantissa + 'e' + Number(exponent);
}

/** extreme reports whether plain decimals would be too long for v. */
function extreme(v) {
  const a = Math.abs(v);
  return a >= 1e15 || (a > 0 && a < 1e-10);
}

/** priceText writes a price with the precision of its series. */
export function priceText(v, precision) {
  if (!usable(v)) return noValue;
  if (Math.abs(v) >= 1e15) return exponentText(v, 2);
  if (extreme(v)) return exponentText(v, 3);
  return fixedText(v, precision);
}

/** shortText writes v with a unit letter and three significant digits from the
 * given size up, and returns nothing below it. */
function shortText(v, from) {
  const a = Math.abs(v);
  if (!(a >= from) || a >= 1e15) return '';
  for (const { size, letter } of look.units) {
    const x = a / size; // rounding may carry into the next unit: 999,999 is 1.00M
    if (x < 0.9995) continue;
    let d = 2;
    if (x >= 99.95) d = 0;
    else if (x >= 9.995) d = 1;
    return fixedText(v < 0 ? -x : x, d) + letter;
  }
  return '';
}

/** significant writes v, between 1e-10 and 1000, with n significant digits. */
function significant(v, n) {
  const e = Math.floor(Math.log10(Math.abs(v)));
  return fixedText(v, Math.min(Math.max(n - 1 - e, 0), 14));
}

/** volumeText writes a volume: 86.4M, 12.3K, 811, 0.123. */
export function volumeText(v) {
  if (!usable(v)) return noValue;
  const short = shortText(v, 1e4);
  if (short) return short;
  if (extreme(v)) return exponentText(v, 2);
  if (v >= 100 || v === 0) return fixedText(v, 0);
  return significant(v, 3);
}

/** valueText writes a value of a panel: three significant digits at least, a unit
 * letter from a million. */
export function valueText(v) {
  if (!usable(v)) return noValue;
  const short = shortText(v, 1e6);
  if (short) return short;
  if (extreme(v)) return exponentText(v, 2);
  const a = Math.abs(v);
  if (a === 0) return '0';
  if (a >= 1e4) return fixedText(v, 0);
  if (a >= 10) return fixedText(v, 1);
  return significant(v, 3);
}

/** levelText writes a level in its shortest form: 70, 0.5, −100. */
export function levelText(v) {
  const short = shortText(v, 1e6);
  if (short) return short;
  for (let d = 0; d < 5 && !extreme(v); d++) {
    const x = v * 10 ** d;
    if (Math.abs(x - Math.round(x)) < 1e-6) return fixedText(v, d);
  }
  return valueText(v);
}

/** exactText writes a quantity or a price of the account with all its decimals, of which
 * it has at most eight. */
export function exactText(v) {
  if (!usable(v)) return noValue;
  return fixedText(v, 8).replace(/\.?0+$/, '');
}

/** signed writes v with d decimals and its sign; zero has none. */
export function signed(v, d) {
  return (v > 0 ? '+' : '') + fixedText(v, d);
}

/** percentText writes the change from one price to another, with its sign. */
export function percentText(from, to) {
  if (!usable(from) || !usable(to) || from === 0) return noValue;
  const p = ((to - from) / Math.abs(from)) * 100;
  const sign = p < 0 ? '−' : '+';
  const size = Math.abs(p);
  return sign + (size >= 1e9 ? exponentText(size, 2) : fixedText(size, 2)) + '%';
}

/** precisionOf returns the decimals that the prices of the columns need: the fewest
 * that write 98 of 100 of them exactly, at least two below 1,000. */
export function precisionOf(columns) {
  let largest = 0;
  let count = 0;
  for (const column of columns) {
    for (const v of column) {
      if (!usable(v)) continue;
      largest = Math.max(largest, Math.abs(v));
      count++;
    }
  }
  const most = Math.floor(count / 50);
  for (let d = largest < 1000 ? 2 : 0; d <= 8; d++) {
    if (inexact(columns, 10 ** d, most) <= most) return d;
  }
  if (largest >= 1) return 2;
  return Math.min(Math.max(3 - Math.floor(Math.log10(largest)), 2), 10);
}

/** inexact counts the prices that are not whole multiples of 1/unit, up to one more
 * than most. */
function inexact(columns, unit, most) {
  let n = 0;
  for (const column of columns) {
    for (const v of column) {
      const x = v * unit;
      const whole = Math.round(x);
      const off = Math.abs(x - whole) > 1e-4 + 1e-15 * Math.abs(x) || (whole === 0 && v !== 0);
      if (usable(v) && off && ++n > most) return n;
    }
  }
  return n;
}
