// Numbers as text, as chart/format.go writes them in pictures.

/** The prices of a bar. */
export const ohlc = ['open', 'high', 'low', 'close'];

/** What stands where a number is missing. */
const noValue = '–';

/** usable reports whether v can be drawn; beyond 1e300 a difference overflows. */
export const usable = v => Math.abs(v) < 1e300; // false for NaN and undefined

/** writers are the formats of numbers by their decimals. */
const writers = Array.from({ length: 21 }, (_, d) => new Intl.NumberFormat('en', { minimumFractionDigits: d, maximumFractionDigits: d, roundingMode: 'halfEven', signDisplay: 'negative' }));

/** fixedText writes v with d decimals, halves to the even digit as the pictures do, with commas between thousands, and
 * a real minus that never stands before a zero. */
export const fixedText = (v, d) => writers[d].format(v).replace('-', '−');

/** exponentText writes v as 1.234e-11, with d digits after the point. */
export function exponentText(v, d) {
  const [mantissa, exponent] = Math.abs(v).toExponential(Math.min(Math.max(d, 0), 12)).split('e');
  return (v < 0 ? '−' : '') + mantissa + 'e' + Number(exponent);
}

/** extreme reports whether plain decimals would be too long for v. */
const extreme = v => Math.abs(v) >= 1e15 || (v !== 0 && Math.abs(v) < 1e-10);

/** tiny is the precision from which all prices of a series, and its axis, have an exponent. */
export const tiny = 10;

/** priceText writes a price with the precision of its series. */
export function priceText(v, precision) {
  if (!usable(v)) return noValue;
  return extreme(v) || (precision >= tiny && v !== 0) ? exponentText(v, Math.abs(v) < 1 ? 3 : 2) : fixedText(v, precision);
}

/** placesOf returns the fewest decimals that write v as exactly as most decimals do: as somebody wrote it. */
export const placesOf = (v, most) => Array.from({ length: most }, (_, d) => d).find(d => Number(v.toFixed(d)) === Number(v.toFixed(most))) ?? most;

/** namedText writes a price that is named by itself, with as many decimals of its own as are visible. */
export const namedText = ({ precision, visible }, v) => priceText(v, Math.max(precision, extreme(v) ? 0 : placesOf(v, visible)));

/** decimals returns how many v, between 1e-10 and 1000, has for three significant digits. */
const decimals = v => Math.min(Math.max(2 - Math.floor(Math.log10(Math.abs(v))), 0), 14);

const compact = new Intl.NumberFormat('en', { notation: 'compact', minimumSignificantDigits: 3, maximumSignificantDigits: 3, roundingMode: 'halfEven' });

/** numberText writes v with a unit letter and three significant digits from a size up, else with d decimals. */
function numberText(v, from, d) {
  if (!usable(v)) return noValue;
  if (Math.abs(v) >= from && Math.abs(v) < 1e15) return compact.format(v).replace('-', '−');
  return extreme(v) ? exponentText(v, 2) : fixedText(v, d);
}

/** volumeText writes a volume: 86.4M, 12.3K, 811, 0.123. */
export const volumeText = v => numberText(v, 1e4, v >= 100 || v === 0 ? 0 : decimals(v));

/** valueText writes a value of a panel: three significant digits at least, a unit letter from a million. */
export function valueText(v) {
  const a = Math.abs(v);
  if (a >= 10) return numberText(v, 1e6, a >= 1e4 ? 0 : 1);
  return numberText(v, 1e6, a === 0 ? 0 : decimals(v));
}

/** levelText writes a level in its shortest form: 70, 0.5, −100. */
export function levelText(v) {
  const whole = d => Math.abs(v * 10 ** d - Math.round(v * 10 ** d)) < 1e-6;
  const d = extreme(v) ? undefined : [0, 1, 2, 3, 4].find(whole);
  return d === undefined ? valueText(v) : numberText(v, 1e6, d);
}

/** exactText writes a quantity or a price of the account with all its decimals, of which it has at most eight. */
export const exactText = v => (usable(v) ? fixedText(v, placesOf(v, 8)) : noValue);

/** signed writes v with d decimals and its sign; what they make a zero has none. */
export const signed = (v, d) => fixedText(v, d).replace(/^(?=.*[1-9])/, v > 0 ? '+' : '');

/** profitText writes a profit with its sign: two decimals, and more where that would be less than four significant
 * digits, as 0.0048 BTC has. */
export function profitText(v) {
  if (!usable(v)) return noValue;
  if (extreme(v)) return (v > 0 ? '+' : '') + exponentText(v, 3);
  const size = v === 0 ? 0 : Math.floor(Math.log10(Math.abs(v)));
  return signed(v, Math.max(3 - size, 2)).replace(/(\.\d\d\d*?)0+$/, '$1');
}

/** percentText writes the change from one price to another with d decimals and its sign. */
export function percentText(from, to, d = 2) {
  const p = ((to - from) / Math.abs(from)) * 100;
  if (!usable(p)) return noValue;
  return (Math.abs(p) < 1e9 ? signed(p, d) : (p > 0 ? '+' : '') + exponentText(p, 2)) + '%';
}

/** jsonText writes a value of JSON, a text without quotes, and membersText the members of an object: " length=21". */
export const jsonText = v => (typeof v === 'string' ? v : JSON.stringify(v));
export const membersText = object => Object.entries(object).map(([name, v]) => ` ${name}=${jsonText(v)}`).join('');
