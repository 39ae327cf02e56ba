// What this browser remembers, as JSON by a name. Where it may store nothing, as in a frame of
// a host, that lasts until the page goes.
const here = new Map();

/** recall returns what was remembered, or else, and instead of something of another kind, what
 * is usual: a list or an object. */
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
