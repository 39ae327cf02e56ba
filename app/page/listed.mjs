// A line about an order, and about what an alert waits for.
import { exactText } from './format.mjs';
import { ofMarket } from './market.mjs';

const exactly = text => exactText(Number(text));

/** orderText says what was ordered, with the prices that it was given, and what of it was
 * filled, which may be at another price. */
export function orderText(o) {
  const known = text => text !== undefined && text !== null && Number(text) !== 0;
  const both = known(o.stop_price) && known(o.price);
  const [stop, limit] = [known(o.stop_price) && ` at ${exactly(o.stop_price)}`, known(o.price) && ` at ${exactly(o.price)}`];
  const at = both ? `, stop${stop}, limit${limit}` : stop || limit || '';
  const trail = known(o.trail_percent) ? `, trails by ${exactly(o.trail_percent)}%` : known(o.trail_amount) ? `, trails by ${exactly(o.trail_amount)}` : '';
  const part = Number(o.filled_quantity) !== Number(o.quantity) ? `${exactly(o.filled_quantity)} of it ` : '';
  const filled = known(o.filled_quantity) ? `; ${part}filled${known(o.average_price) ? ` at ${ofMarket(o.symbol, Number(o.average_price))}` : ''}` : '';
  return `${o.side} ${exactly(o.quantity)} ${o.symbol} ${o.type.replaceAll('_', ' ')}${at}${trail}${filled}`;
}

const reaches = { price_above: 'price at or above', price_below: 'price at or below', profit_above: 'profit at or above', profit_below: 'profit at or below' };

/** conditionText says what an alert waits for: with the rule, and with the parameters and the
 * interval of an indicator. */
export function conditionText({ condition: c, interval }) {
  const sum = Object.keys(reaches).find(name => c[name] !== undefined);
  if (sum) return `${c.of ? c.of + ' ' : ''}${reaches[sum]} ${c[sum]}`;
  const time = c.at ?? c.daily;
  if (time) return `${c.daily ? 'daily at ' : ''}${time} ${c.timezone ?? 'UTC'}${c.weekdays ? ', ' + c.weekdays.join(' ') : ''}`;
  if (!c.indicator_signal) return JSON.stringify(c).slice(0, 120);
  const { indicator, signal, level, line, when, params, ...beside } = c.indicator_signal;
  const more = Object.entries({ ...beside, ...params }).map(([name, value]) => ` ${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`).join('');
  const bars = interval ? `, ${interval}` : '';
  if (when !== undefined) return `${indicator}${more}: ${when} ${signal.replaceAll('_', ' ')}${bars}`;
  return `${indicator}${more}${line ? ' ' + line : ''}: ${signal}${level === undefined ? '' : ' ' + level}${bars}`;
}
