// Panels of which one is shown, and the tabs that choose it.
import { el } from './dom.mjs';

/** tabs returns the row of tabs with the panels below it, and refresh, which writes how many
 * things each panel lists and leaves out those that are hidden. A panel is {title, element,
 * count, show, urgent}; where something new is listed in an urgent one, it comes to the front. */
export function tabs(label, panels) {
  const row = el('div', { role: 'tablist', class: 'tabs', 'aria-label': label, onkeydown: move });
  const all = panels.map((panel, i) => {
    const button = el('button', { type: 'button', role: 'tab', id: `tab-${i}`, 'aria-controls': `pane-${i}`, onclick: () => pick(one) });
    const pane = el('div', { role: 'tabpanel', id: `pane-${i}`, 'aria-labelledby': `tab-${i}` }, panel.element);
    const one = { panel, button, pane, before: 0 };
    return one;
  });
  row.append(...all.map(one => one.button));

  function pick(chosen) {
    for (const one of all) {
      one.pane.hidden = one !== chosen;
      one.button.ariaSelected = String(one === chosen);
      one.button.tabIndex = one === chosen ? 0 : -1;
    }
    chosen.panel.show?.();
  }
  function move(e) {
    const shown = all.filter(one => !one.button.hidden);
    const next = shown.at((shown.findIndex(one => one.button === e.target) + ({ ArrowLeft: -1, ArrowRight: 1 }[e.key] ?? NaN)) % shown.length);
    if (!/^Arrow(Left|Right)$/.test(e.key)) return;
    pick(next);
    next.button.focus();
  }
  function refresh() {
    for (const one of all) {
      const { title, element, count = 0, urgent } = one.panel;
      const text = count ? `${title} ${count}` : title;
      if (one.button.textContent !== text) one.button.textContent = text;
      one.button.hidden = element.hidden;
      if (urgent && count > one.before && !row.parentElement.contains(document.activeElement)) pick(one);
      one.before = count;
    }
    if (!all.some(one => !one.pane.hidden && !one.button.hidden)) pick(all.find(one => !one.button.hidden));
  }
  const element = el('div', { class: 'panes' }, row, ...all.map(one => one.pane));
  pick(all.find(one => !one.panel.urgent));
  refresh();
  return { element, refresh };
}
