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

/** choices returns the options of a select, one of them chosen. */
export function choices(words, chosen) {
  return words.map(word => el('option', { value: word, selected: word === chosen }, word.replaceAll('_', ' ')));
}

/** fillRows fills the body of a table with rows of cells, or says that there are none. */
export function fillRows(table, rows, none) {
  const body = table.tBodies[0] ?? table.appendChild(el('tbody'));
  const width = table.tHead.rows[0].cells.length;
  const made = rows.map(cells => el('tr', {}, ...cells.map(c => el('td', {}, c))));
  body.replaceChildren(...(made.length ? made : [el('tr', {}, el('td', { colspan: width, class: 'none' }, none))]));
}

/** tableOf returns an empty table with a heading per column; an empty one is that of
 * buttons. */
export function tableOf(caption, headings) {
  const head = el('thead', {}, el('tr', {}, ...headings.map(h => el('th', { scope: 'col' }, h || el('span', { class: 'quiet' }, 'Action')))));
  return el('table', {}, el('caption', { class: 'quiet' }, caption), head, el('tbody'));
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
