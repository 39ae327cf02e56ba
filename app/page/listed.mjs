// A line about an order, and about what an alert waits for.
import { exactText } from './format.mjs';
import { ofMarket } from './market.mjs';
import { t, word } from './texts.mjs';

const exactly = text => exactText(Number(text));

/** orderText says what was ordered, what it waits for, and what of it was filled. */
export function orderText(o) {
  const known = text => text !== undefined && text !== null && Number(text) !== 0;
  const both = known(o.stop_price) && known(o.price);
  const [stop, limit] = [o.stop_price, o.price].map(text => known(text) && exactly(text));
  const at = both ? t(', stop at {0}, limit at {1}', stop, limit) : stop || limit ? t(' at {0}', stop || limit) : '';
  const by = known(o.trail_percent) ? exactly(o.trail_percent) + '%' : known(o.trail_amount) && exactly(o.trail_amount);
  const part = Number(o.filled_quantity) !== Number(o.quantity) ? t('; {0} of it filled', exactly(o.filled_quantity)) : t('; filled');
  const filled = known(o.filled_quantity) ? part + (known(o.average_price) ? t(' at {0}', ofMarket(o.symbol, Number(o.average_price))) : '') : '';
  const when = o.when && !o.when.acted_at ? t(', when {0}', o.when.rule) : '';
  return `${word(o.side)} ${exactly(o.quantity)} ${o.symbol} ${word(o.type)}${at}${by ? t(', trails by {0}', by) : ''}${filled}${when}`;
}

const reaches = { price_above: t('price at or above'), price_below: t('price at or below'), profit_above: t('profit at or above'), profit_below: t('profit at or below') };

/** conditionText says what an alert waits for: with the rule, and with the parameters and the
 * interval of an indicator. */
export function conditionText({ condition: c, interval }) {
  const sum = Object.keys(reaches).find(name => c[name] !== undefined);
  if (sum) return `${c.of ? c.of + ' ' : ''}${reaches[sum]} ${c[sum]}`;
  const time = c.at ?? c.daily;
  if (time) return `${c.daily ? t('daily at {0}', time) : time} ${c.timezone ?? 'UTC'}${c.weekdays ? ', ' + c.weekdays.map(word).join(' ') : ''}`;
  if (!c.indicator_signal) return JSON.stringify(c).slice(0, 120);
  const { indicator, signal, level, line, when, params, ...beside } = c.indicator_signal;
  const more = Object.entries({ ...beside, ...params }).map(([name, value]) => ` ${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`).join('');
  const bars = interval ? `, ${interval}` : '';
  if (when !== undefined) return `${indicator}${more}: ${when} ${signal.replaceAll('_', ' ')}${bars}`;
  return `${indicator}${more}${line ? ' ' + line : ''}: ${signal}${level === undefined ? '' : ' ' + level}${bars}`;
}
