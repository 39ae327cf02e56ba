// Boxes at a place of the chart: a menu of choices, and forms.
import { button, el } from './dom.mjs';

/** openBox shows an element at a place in a box. It closes when the focus leaves it or by
 * Escape; then the focus goes back to an element. One that is open is put in its place again. */
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
