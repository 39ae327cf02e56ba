// What is known of a market by its symbol: the currency of its prices, and their placesKnown.
import { fixedText, placesOf, profitText, usable } from './format.mjs';

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
