// What a field offers while something is typed into it, by the browser's own list of choices,
// which works with keys, on a phone and for screen readers.
import { el } from './dom.mjs';

const stillness = 250; // milliseconds without a key before it is asked

/** suggest returns a list of choices for an input: what find(text) returns of the text in it,
 * [{symbol, name}]. Who picks one has chosen, so that chosen is called. */
export function suggest(input, find, chosen) {
  const list = el('datalist', { id: input.name + '-found' });
  input.setAttribute('list', list.id);
  let timer;
  const ask = async () => {
    const text = input.value.trim();
    const all = text ? await find(text).catch(() => []) : []; // without an answer there is nothing to offer
    if (text !== input.value.trim()) return; // an answer to what was typed before
    list.replaceChildren(...all.map(({ symbol, name }) => el('option', { value: symbol, label: name ? `${symbol} · ${name}` : symbol })));
  };
  input.addEventListener('input', () => {
    clearTimeout(timer);
    if ([...list.children].some(option => option.value === input.value)) return chosen();
    timer = setTimeout(ask, stillness);
  });
  return list;
}
