// What this browser remembers, and the view in the address: what the chart shows, and which bars, so that a reload or
// a link opens the same.

// Where nothing may be stored, as in a frame of a host, it is remembered here until the page goes.
const here = new Map();

/** recall returns what was remembered by a name, or else, and instead of something of another kind, what is usual: a
 * list, an object, or a text. */
export function recall(name, usual) {
  try {
    const value = JSON.parse(here.get(name) ?? localStorage.getItem(name));
    return value?.constructor === usual.constructor ? value : usual;
  } catch {
    return usual;
  }
}

/** remember keeps a value in place of the one before. */
export function remember(name, value) {
  const text = JSON.stringify(value);
  try {
    localStorage.setItem(name, text);
    here.delete(name);
  } catch {
    here.set(name, text);
  }
}

const members = ['symbol', 'interval', 'type', 'scale', 'bars', 'from', 'to'];

/** viewOf reads a view from the query of an address; undefined if it names no symbol. */
export function viewOf(query) {
  const given = new URLSearchParams(query);
  if (!given.has('symbol')) return undefined;
  const view = Object.fromEntries([...given].filter(([name]) => members.includes(name)));
  return given.has('indicators') ? { ...view, indicators: parseIndicators(given.get('indicators')) } : view;
}

/** queryOf writes a view. */
export function queryOf(view) {
  const known = members.filter(name => view[name] !== undefined).map(name => [name, view[name]]);
  return '?' + new URLSearchParams([...known, ['indicators', indicatorsText(view.indicators)]]);
}

/** viewIn returns what a chart shows, as arguments of its tool: its request, and of the bars of its data i0 to i1: how
 * many of the newest, or from when to when. */
export function viewIn(request, { data: { n, time }, i0, i1 }) {
  const at = i => new Date(1000 * time[i]).toISOString().replace('.000', '');
  const { symbol, interval, indicators, type, scale, compare } = request;
  return { symbol, interval, indicators, type, scale, compare, ...(i1 === n ? { bars: n - i0 } : { from: at(i0), to: at(i1 - 1) }) };
}

/** indicatorsText writes a list of indicators, as generate_chart takes it, as people type it: "ema_stack, rsi
 * length=21". A value with a blank or a comma, or that would be read as another, is written as JSON: rule when="close
 * > sma(50)". */
export function indicatorsText(list) {
  const plain = value => /^[^\s,="{[]+$/.test(value) && valueOf(String(value)) === value;
  return list.map(item => {
    if (typeof item === 'string') return item;
    const { name, ...parameters } = item;
    return [name, ...Object.entries(parameters).map(([key, value]) => `${key}=${plain(value) ? value : JSON.stringify(value)}`)].join(' ');
  }).join(', ');
}

/** parseIndicators reads what indicatorsText writes. */
export function parseIndicators(text) {
  const quoted = '"(?:[^"\\\\]|\\\\.)*"';
  const words = new RegExp(`(?:${quoted}|[{[](?:${quoted}|[^"\\]}])*[\\]}]|[^\\s,"])+|,`, 'g');
  const items = [[]];
  for (const [word] of text.matchAll(words)) {
    if (word === ',') items.push([]);
    else items.at(-1).push(word);
  }
  return items.filter(item => item.length > 0).map(([name, ...rest]) => {
    const parameters = rest.map(word => /^([^=]+)=(.+)$/.exec(word)).filter(found => found).map(([, key, value]) => [key, valueOf(value)]);
    return rest.length === 0 ? name : { name, ...Object.fromEntries(parameters) };
  });
}

/** valueOf reads a value: JSON, or else the text. */
export function valueOf(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
