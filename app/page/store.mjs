// What this browser remembers, and the view in the address, so that a reload or a link opens the same.

// Where nothing may be stored, as in a frame of a host, it is remembered here until the page goes.
const here = new Map();

/** recall returns what was remembered by a name if it is of the kind (list, object, text) of usual, or else that. */
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

const members = ['symbol', 'interval', 'type', 'scale', 'bars', 'from', 'to', 'indicators'];

/** viewOf reads a view from the query of an address; undefined if it names no symbol. Its indicators are a text, which
 * the server reads: names with commas between, or JSON. */
export function viewOf(query) {
  const given = new URLSearchParams(query);
  return given.has('symbol') ? Object.fromEntries([...given].filter(([name]) => members.includes(name))) : undefined;
}

/** queryOf writes a view. */
export function queryOf(view) {
  const names = view.indicators.every(item => typeof item === 'string');
  const all = { ...view, indicators: names ? view.indicators.join() : JSON.stringify(view.indicators) };
  return '?' + new URLSearchParams(members.filter(name => all[name] !== undefined).map(name => [name, all[name]]));
}

/** viewIn returns what a chart shows, as arguments of its tool: its request, and of the bars of its data i0 to i1: how
 * many of the newest, or from when to when. */
export function viewIn(request, { data: { n, time }, i0, i1 }) {
  const at = i => new Date(1000 * time[i]).toISOString().replace('.000', '');
  const { symbol, interval, indicators, type, scale, compare } = request;
  return { symbol, interval, indicators, type, scale, compare, ...(i1 === n ? { bars: n - i0 } : { from: at(i0), to: at(i1 - 1) }) };
}
