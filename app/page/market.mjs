// What is known of a market by its symbol: the currency of its prices, in which sums are made,
// and their decimals.
import { fixedText, placesOf, profitText, usable } from './format.mjs';
import { t } from './texts.mjs';

const currencies = 'USD EUR GBP JPY CHF AUD CAD NZD SEK NOK DKK PLN CZK HUF TRY ZAR MXN BRL CNY HKD SGD INR KRW BTC ETH BNB'.split(' ');
const placesKnown = new Map(); // by symbol

/** unitOf returns the currency in which a symbol is priced, if its form leaves no doubt, else
 * the symbol itself. Tickers of stocks have at most five letters, and some of those end like
 * a currency; BTCBUSD may be in BUSD or in USD. */
export function unitOf(symbol) {
  const [, apart, end] = /^[A-Z0-9]{2,}?([-_/]?)(FDUSD|USDT|USDC|[A-Z]{3})$/.exec(symbol) ?? [];
  const sure = end?.length > 3 || (currencies.includes(end) && (apart || (symbol.length >= 6 && !/[BT]USD$/.test(symbol))));
  return sure ? end : symbol;
}

/** learn notes how many decimals the prices of a market have. */
export const learn = (symbol, places) => placesKnown.set(symbol, Math.max(places, placesKnown.get(symbol) ?? 2));

/** ofMarket writes a price, such as an average of fills, with no more decimals than its market
 * has, or with its own while those are not known. */
export const ofMarket = (symbol, v) => (usable(v) ? fixedText(v, Math.min(placesOf(v, 8), placesKnown.get(symbol) ?? 8)) : '–');

/** moneyText writes a sum in the currency of a market; signed says whether with a plus. */
export function moneyText(symbol, v, signed) {
  const unit = unitOf(symbol);
  const text = profitText(v);
  return (signed ? text : text.replace('+', '')) + (unit === symbol ? '' : '\u00a0' + unit);
}

/** unitsText adds up a member of positions and writes a sum per currency: "+12.50 USDT,
 * −3.00 (AAA)", where AAA is a symbol whose currency is not known. Sums of zero are left
 * out; where a value is missing, the sum is not known. */
export function unitsText(positions, member) {
  const sums = new Map();
  for (const p of positions) sums.set(unitOf(p.symbol), (sums.get(unitOf(p.symbol)) ?? 0) + Number(p[member] ?? NaN));
  const symbols = new Set(positions.map(p => p.symbol));
  const known = [...sums].filter(([, sum]) => Math.abs(sum) > 0).map(([unit, sum]) => `${profitText(sum)}\u00a0${symbols.has(unit) ? `(${unit})` : unit}`);
  const unknown = [...sums].filter(([, sum]) => Number.isNaN(sum)).map(([unit]) => unit);
  return [...known, ...(unknown.length ? [t('not known in {0}', unknown.join(', '))] : [])].join(', ') || profitText(0);
}
