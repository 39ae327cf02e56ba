// What the account made: sums of profits, per currency, and the way to them.
import { filledAt } from './account.mjs';
import { profitText } from './format.mjs';
import { unitOf } from './market.mjs';
import { t } from './texts.mjs';

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

/** curveOf returns the realized profit after each filled order, or nothing if that cannot be
 * drawn: it is in several currencies, or the newest orders are not all and so do not add up
 * to what the positions have realized. */
export function curveOf(orders, positions) {
  const sums = equity(orders);
  const realized = positions.reduce((sum, p) => sum + Number(p.realized_pnl), 0);
  const one = new Set(positions.map(p => unitOf(p.symbol))).size === 1;
  const line = 1e-4 * Math.max(...sums.map(Math.abs)); // average prices are rounded; a curve does not show less
  return one && sums.length > 0 && Math.abs(sums.at(-1) - realized) <= line ? sums : undefined;
}

/** equity returns the realized profit after each filled order, oldest first: the sum so
 * far, computed with average prices, less fees. */
export function equity(orders) {
  const held = new Map(); // symbol to quantity and average price
  let sum = 0;
  const filled = orders.filter(o => o.average_price !== null && Number(o.filled_quantity) > 0);
  return filled.sort((a, b) => filledAt(a) - filledAt(b)).map(o => {
    const h = held.get(o.symbol) ?? { quantity: 0, price: 0 };
    const price = Number(o.average_price);
    const quantity = (o.side === 'buy' ? 1 : -1) * Number(o.filled_quantity);
    const closing = h.quantity * quantity < 0 ? Math.min(Math.abs(h.quantity), Math.abs(quantity)) : 0;
    sum += closing * (price - h.price) * Math.sign(h.quantity) - Number(o.fee ?? 0);
    const left = h.quantity + quantity;
    if (h.quantity * left <= 0) h.price = price; // flat, or turned to the other side
    else if (closing === 0) h.price = (h.price * h.quantity + price * quantity) / left;
    held.set(o.symbol, { quantity: left, price: h.price });
    return sum;
  });
}
