// Making elements. Every text goes in as text: nothing on these pages is ever parsed as markup, whoever wrote it.
import { t, word } from './texts.mjs';

/** plain returns a text without the characters that change the direction of what follows: with them a stranger could
 * turn a line around. Scripts that are written from right to left need none. */
export const plain = text => text.replace(/[\u202a-\u202e\u2066-\u2069]/g, '');

/** el returns an element with attributes, of which those that begin with "on" are listeners, and texts or elements. */
export function el(tag, attributes = {}, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) e.addEventListener(name.slice(2), value);
    else if (value !== false && value !== undefined) e.setAttribute(name, value === true ? '' : value);
  }
  e.append(...children.map(c => (typeof c === 'string' ? plain(c) : c)));
  return e;
}

/** button returns a button. Enter that is held down presses it once. */
export const button = (text, onclick, attributes = {}) => el('button', { type: 'button', ...attributes, onclick, onkeydown: e => e.repeat && e.key === 'Enter' && e.preventDefault() }, text);

/** workButton returns a button that is off while its work lasts and says what went wrong. It is off by aria-disabled
 * alone, because a button that is disabled loses the focus. */
export function workButton(text, work, say, attributes) {
  const b = button(text, async () => {
    if (b.ariaDisabled === 'true') return;
    b.ariaDisabled = 'true';
    await work().catch(err => say(err.message));
    b.ariaDisabled = 'false';
  }, attributes);
  return b;
}

const armedPeriod = 15_000; // milliseconds for which a first press counts

/** secondPress returns a button that acts by its second press, and rest, which takes back the first. name(button, armed)
 * names it; first is what a first press does. If act had no answer the next press tries it again. */
export function secondPress(name, first, act, say, attributes) {
  let [armed, timer] = [false, 0];
  const arm = is => {
    clearTimeout(timer);
    if (is) timer = setTimeout(arm, armedPeriod, false);
    name(element, armed = is);
  };
  const element = workButton('', async () => {
    const again = armed;
    await (again ? act() : first()).then(() => arm(!again), err => {
      arm(again && err.unanswered);
      throw err;
    });
  }, say, attributes);
  arm(false);
  return { element, rest: () => arm(false) };
}

/** menu returns parts and a button that opens them where the style sees no room for them beside it. */
export function menu(label, ...parts) {
  const open = is => {
    box.classList.toggle('open', is);
    opener.ariaExpanded = String(is);
  };
  const opener = button('⋯', () => open(!box.classList.contains('open')), { class: 'opener', 'aria-label': label, 'aria-expanded': 'false' });
  const box = el('div', { class: 'more' }, ...parts);
  const away = e => [opener, box].every(part => !part.contains(e.relatedTarget ?? opener)) && open(false);
  return el('div', { class: 'fold', onfocusout: away, onkeydown: e => e.key === 'Escape' && open(false) }, opener, box);
}

/** panel returns a box with a heading. */
export const panel = (title, ...children) => el('section', { class: 'panel', 'aria-label': title }, el('header', {}, el('h2', {}, title)), ...children);

/** select returns a choice of values. */
export const select = (attributes, values) => el('select', attributes, ...values.map(value => el('option', { value }, word(value))));

/** field returns an input with its label. */
export const field = (label, input, more = '') => el('label', { class: 'field ' + more }, el('span', {}, label), input);

/** refill replaces what a place shows. A button or an input keeps the focus, or the one of its name gets it, or else
 * the fallback: never that of another row. While something is typed into an input, the place stays as it is. */
export function refill(body, fallback, make) {
  const focused = document.activeElement; // before a cell takes it out of its row
  const keep = body.contains(focused);
  if (keep && focused.tagName === 'INPUT' && focused.value !== focused.defaultValue) return;
  body.replaceChildren(...make());
  if (!keep) return;
  const named = [...body.querySelectorAll('button, input')].filter(b => b === focused || b.ariaLabel === focused.ariaLabel);
  (named.length === 1 ? named[0] : fallback).focus({ preventScroll: true });
}

/** table returns a table with a heading per column, empty over buttons, and a function that fills it with rows of cells
 * or shows the text none. It can be scrolled with keys, too. It sets the ARIA roles because narrow pages lay out rows
 * as cards, in which a long text has a line of its own, and browsers would then drop the roles of a table. */
export function table(caption, label, headings, none) {
  const row = cells => el('tr', { role: 'row' }, ...cells);
  const cell = (content, attributes) => el('td', { role: 'cell', ...attributes }, content);
  const head = headings.map(h => el('th', { role: 'columnheader', scope: 'col' }, h || el('span', { class: 'quiet' }, t('Action'))));
  const body = el('tbody', { role: 'rowgroup' });
  const made = el('table', { role: 'table' }, el('caption', { class: 'quiet' }, caption), el('thead', { role: 'rowgroup' }, row(head)), body);
  const element = el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': t('{0}, the list', label) }, made);
  const fill = rows => refill(body, element, () => {
    const lines = rows.map(cells => row(cells.map((content, i) => cell(content, { 'data-name': headings[i] || undefined, class: content.length > 30 && 'long' }))));
    return lines.length ? lines : [row([cell(none, { colspan: headings.length, class: 'none' })])];
  });
  return { element, fill };
}

/** cards returns a list of cards, each a list of elements, and a function that fills it or shows the text none. A card
 * is as wide as its place: nothing in it is ever aside. */
export function cards(label, none) {
  const element = el('ul', { class: 'cards', tabindex: -1, 'aria-label': label });
  const fill = items => refill(element, element, () => (items.length ? items.map(parts => el('li', {}, ...parts)) : [el('li', { class: 'soft' }, none)]));
  return { element, fill };
}

/** entry returns a group of fields; Enter in one of them does the same as its button. It is not a form, because hosts
 * show apps in frames that may not submit forms. */
export function entry(attributes, act, ...children) {
  return el('div', {
    role: 'group', ...attributes, onkeydown: e => {
      if (e.key !== 'Enter' || e.target.tagName !== 'INPUT') return;
      e.preventDefault();
      act();
    },
  }, ...children);
}

/** openBox shows an element at a place in a box. It closes when the focus leaves it or by Escape; then the focus goes
 * back to an element. One that is open is put in its place again. */
export function openBox(box, { x, y }, element, back) {
  if (!element.isConnected) {
    element.tabIndex = -1;
    element.addEventListener('focusout', e => element.contains(e.relatedTarget) || element.remove());
    element.addEventListener('keydown', e => e.key === 'Escape' && back.focus());
    box.append(element);
  }
  const { width, height } = box.getBoundingClientRect();
  Object.assign(element.style, { left: `${Math.max(0, Math.min(x, width - element.offsetWidth))}px`, top: `${Math.max(0, Math.min(y, height - element.offsetHeight))}px` });
}

/** openMenu shows choices, each a text and what it does, at a place in a box. */
export function openMenu(box, place, name, choices, back) {
  const items = choices.map(([text, act]) => button(text, () => {
    back.focus();
    act();
  }, { role: 'menuitem' }));
  const onkeydown = e => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    if (!by) return;
    items.at((items.indexOf(document.activeElement) + by) % items.length).focus();
    e.preventDefault();
  };
  openBox(box, place, el('div', { class: 'menu', role: 'menu', 'aria-label': name, onkeydown }, ...items), back);
  items[0].focus({ preventScroll: true });
}
