// The choice of a symbol: those shown last and the watchlist, or what the source knows of what is typed.
import { el } from './dom.mjs';
import { recall, remember } from './store.mjs';
import { t } from './texts.mjs';

const typingRest = 250; // milliseconds without a key before the source is asked
const shownLast = 'wick-recent';
const mostRecent = 8;
const remembered = name => recall(name, []).map(String);

/** noteSymbol remembers that a symbol was shown. */
export const noteSymbol = symbol => remember(shownLast, [symbol, ...remembered(shownLast).filter(other => other !== symbol)].slice(0, mostRecent));

/** symbolChoice gives an input the list that it returns, of what find finds. chosen is called when one is picked. */
export function symbolChoice(input, find, chosen) {
  const list = el('div', { class: 'menu', role: 'listbox', tabindex: -1, id: input.name + '-found', 'aria-label': t('Symbols'), hidden: true });
  for (const [name, value] of Object.entries({ role: 'combobox', 'aria-autocomplete': 'list', 'aria-controls': list.id, 'aria-expanded': 'false' })) input.setAttribute(name, value);
  let [turn, timer, at] = [0, 0, -1];

  const mark = k => {
    at = k;
    [...list.children].forEach((option, i) => { option.ariaSelected = String(i === k); });
    list.children[k]?.scrollIntoView({ block: 'nearest' });
    if (k >= 0) input.setAttribute('aria-activedescendant', list.children[k].id);
    else input.removeAttribute('aria-activedescendant');
  };
  const open = is => {
    list.hidden = !is;
    input.ariaExpanded = String(is);
    mark(-1);
  };
  const close = () => {
    turn++;
    open(false);
  };
  const pick = symbol => {
    input.value = symbol;
    close();
    chosen();
  };
  const fill = all => {
    const unique = all.filter(({ symbol }, k) => all.findIndex(other => other.symbol === symbol) === k);
    list.replaceChildren(...unique.map(({ symbol, name }, k) => el('div', { role: 'option', id: `${list.id}-${k}`, onclick: () => pick(symbol) }, el('strong', {}, symbol), name ? ` · ${name}` : '')));
    open(unique.length > 0);
  };
  /** offer lists what fits the text, or without one what is near at hand. */
  const offer = async text => {
    const mine = ++turn;
    const own = text ? [] : [...remembered(shownLast).map(symbol => ({ symbol, name: t('recent') })), ...remembered('wick-watch').map(symbol => ({ symbol, name: t('watched') }))];
    if (own.length) fill(own);
    const found = await find(text).catch(() => []); // without an answer there is no more to offer
    if (mine === turn) fill([...own, ...found]);
  };
  const listeners = {
    focus: () => {
      input.select();
      offer('');
    },
    input: () => {
      clearTimeout(timer);
      turn++;
      timer = setTimeout(() => document.activeElement === input && offer(input.value.trim()), typingRest);
    },
    blur: close,
    keydown: e => {
      const by = { ArrowDown: 1, ArrowUp: -1 }[e.key];
      if (by && list.hidden) offer('');
      else if (by) mark((at + by + list.children.length) % list.children.length);
      else if (e.key === 'Enter' && !list.hidden && at >= 0) list.children[at].click();
      else if (e.key === 'Escape' && !list.hidden) close();
      else return e.key === 'Enter' && close();
      e.preventDefault();
      e.stopPropagation();
    },
  };
  for (const [name, listener] of Object.entries(listeners)) input.addEventListener(name, listener);
  list.addEventListener('pointerdown', e => e.preventDefault()); // the focus stays in the input
  return list;
}
