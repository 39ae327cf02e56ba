// Making elements. Every text goes in as text: nothing on these pages is ever parsed
// as markup, whoever wrote it.

/** el returns an element with attributes and children: texts or elements. A member
 * that begins with "on" is a listener. */
export function el(tag, attributes = {}, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) e.addEventListener(name.slice(2), value);
    else if (value === true) e.setAttribute(name, '');
    else if (value !== false && value !== undefined) e.setAttribute(name, String(value));
  }
  e.append(...children.map(c => (typeof c === 'number' ? String(c) : c)));
  return e;
}

/** choices returns the options of a select. */
export function choices(words) {
  return words.map(word => el('option', { value: word }, word.replaceAll('_', ' ')));
}

/** field returns an input with its label. */
export function field(label, input, more = '') {
  return el('label', { class: 'field ' + more }, el('span', {}, label), input);
}

/** fillRows fills the body of a table with rows of cells, or says that there are none. */
export function fillRows(table, rows, none) {
  const headings = [...table.tHead.rows[0].cells].map(cell => cell.textContent);
  const made = rows.map(cells => el('tr', { role: 'row' }, ...cells.map((c, i) => el('td', { role: 'cell', 'data-name': headings[i] }, c))));
  table.tBodies[0].replaceChildren(...(made.length ? made : [el('tr', { role: 'row' }, el('td', { role: 'cell', colspan: headings.length, class: 'none' }, none))]));
}

/** tableOf returns an empty table with a heading per column; an empty one is that of
 * buttons. The roles are there because narrow pages lay rows out as cards, which would
 * take them away. */
export function tableOf(caption, headings) {
  const head = headings.map(h => el('th', { role: 'columnheader', scope: 'col' }, h || el('span', { class: 'quiet' }, 'Action')));
  return el('table', { role: 'table' }, el('caption', { class: 'quiet' }, caption),
    el('thead', { role: 'rowgroup' }, el('tr', { role: 'row' }, ...head)), el('tbody', { role: 'rowgroup' }));
}

/** scrolling puts a table where it may scroll, also by keys. */
export function scrolling(table, label) {
  return el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': label + ', the list' }, table);
}

/** entry returns a group of fields; Enter in one of them does the same as its button. A
 * form would not do: hosts show apps in frames that may not submit any. */
export function entry(attributes, act, ...children) {
  return el('div', {
    role: 'group', ...attributes, onkeydown: e => {
      if (e.key !== 'Enter' || e.target.tagName !== 'INPUT') return;
      e.preventDefault();
      act();
    },
  }, ...children);
}
