// A menu at a place of the chart.
import { button, el } from './dom.mjs';

/** openMenu shows choices, each a text and what it does, at a place in a box. It closes when
 * the focus leaves it, and then goes back to an element. */
export function openMenu(box, { x, y }, name, choices, back) {
  const go = by => {
    const all = [...menu.children];
    all.at((all.indexOf(document.activeElement) + by) % all.length).focus();
  };
  const onkeydown = e => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    if (by) go(by);
    else if (e.key === 'Escape') back.focus();
    else return;
    e.preventDefault();
  };
  const items = choices.map(([text, act]) => button(text, () => {
    back.focus();
    act();
  }, { role: 'menuitem' }));
  const menu = el('div', { class: 'menu', role: 'menu', tabindex: -1, 'aria-label': name, onkeydown, onfocusout: e => menu.contains(e.relatedTarget) || menu.remove() }, ...items);
  box.append(menu);
  const { width, height } = box.getBoundingClientRect();
  Object.assign(menu.style, { left: `${Math.max(0, Math.min(x, width - menu.offsetWidth))}px`, top: `${Math.max(0, Math.min(y, height - menu.offsetHeight))}px` });
  items[0].focus({ preventScroll: true });
}
