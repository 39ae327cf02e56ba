// The view in the address: what the chart shows, and which bars, so that a reload or a link
// opens the same. What the reader chose is kept in this browser, too; what a link opened is not.
import { indicatorsText, parseIndicators } from './names.mjs';

const saved = 'wick-view';
const written = ['symbol', 'interval', 'type', 'scale', 'bars', 'from', 'to'];

/** viewOf reads a view from the query of an address, or else the one that was kept;
 * undefined if neither names a symbol. */
export function viewOf(query, store) {
  const read = text => new URLSearchParams(text ?? '');
  const from = [read(query), read(store.getItem(saved))].find(p => p.has('symbol'));
  if (!from) return undefined;
  const view = Object.fromEntries(written.filter(name => from.has(name)).map(name => [name, from.get(name)]));
  return from.has('indicators') ? { ...view, indicators: parseIndicators(from.get('indicators')) } : view;
}

/** viewIn returns what a chart shows, as arguments of its tool: its request, and of the bars of its
 * data i0 to i1: how many of the newest, or from when to when. */
export function viewIn(request, { data: { n, time }, i0, i1 }) {
  const at = i => new Date(1000 * time[i]).toISOString().replace('.000', '');
  const bars = i1 === n ? { bars: n - i0 } : { from: at(i0), to: at(i1 - 1) };
  const { symbol, interval, indicators, type, scale, compare } = request;
  return { symbol, interval, indicators, type, scale, compare, ...bars };
}

/** queryOf writes a view. */
export function queryOf(view) {
  const known = written.filter(name => view[name] !== undefined).map(name => [name, view[name]]);
  return '?' + new URLSearchParams([...known, ['indicators', indicatorsText(view.indicators)]]);
}

/** keepView keeps a query as what the reader chose. */
export const keepView = (query, store) => store.setItem(saved, query);
