// The dialog of the indicators: which are on the chart, the whole catalogue by category and search, the parameters of
// each, and lists that a person has saved under a name.
import { button, el, entry, field, openBox, select } from './dom.mjs';
import { jsonText, membersText } from './format.mjs';
import { look } from './look.mjs';
import { recall, remember } from './store.mjs';
import { t } from './texts.mjs';

const presets = 'wick-lists';
const searchRest = 250; // milliseconds without a key before the catalogue is searched

/** asRow returns a row of the dialog for an item of a list of indicators, and itemText writes one: rsi length=21. */
const asRow = item => ({ item: typeof item === 'string' ? { name: item } : item, on: true });
const itemText = ({ name, ...given }) => name + membersText(given);

/** valueOf reads a value: JSON, or else the text. */
function valueOf(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** parameterFields returns a field per parameter of the catalogue, with its bounds, filled with what was given or its
 * default, and read, which returns those that differ from their defaults, or undefined while one is out of bounds. */
function parameterFields(parameters, given) {
  const inputs = parameters.map(({ name, type, default: usual, choices, min, max, required, example, description: title }) => {
    const number = type === 'integer' || type === 'number';
    const input = choices || type === 'boolean' ? select({ name, title }, (choices ?? [true, false]).map(String))
      : el('input', { name, title, required, placeholder: example, autocomplete: 'off', maxlength: 1000, ...(number ? { type: 'number', min, max, step: type === 'integer' ? 1 : 'any' } : {}) });
    input.value = jsonText(given[name] ?? usual ?? '');
    return input;
  });
  const fields = parameters.map(({ name, min, max }, i) => field(name.replaceAll('_', ' ') + (max === undefined ? '' : ` ${min} – ${max}`), inputs[i]));
  const read = () => (inputs.every(input => input.reportValidity()) ? Object.fromEntries(parameters.map((p, i) => [p, inputs[i].value.trim()])
    .filter(([p, value]) => value !== '' && value !== jsonText(p.default ?? '')).map(([p, value]) => [p.name, valueOf(value)])) : undefined);
  return { fields, read };
}

/** studies returns the dialog for a chart: pick(place) opens it with all that can be on the chart, edit(k, place) with
 * the parameters of the indicator that is k in the list. get returns that list, put replaces it and resolves with
 * what is wrong with it, if something is, and say is told what went wrong otherwise. */
export function studies(transport, chart, { get, put, say }) {
  let rows = []; // {item, on}: what is on the chart, and what was taken off, to be put on again
  let [timer, turn] = [0, 0]; // turn counts what was asked of the catalogue: an earlier answer is dropped
  let [dialog, at] = []; // of this opening, and its place

  const search = el('input', { type: 'search', name: 'find', placeholder: t('Search indicators'), 'aria-label': t('Search indicators'), maxlength: 200, oninput: () => {
    clearTimeout(timer);
    timer = setTimeout(list, searchRest);
  } });
  const category = select({ name: 'category', 'aria-label': t('Category'), onchange: list }, ['all', ...look.categories]);
  const found = el('ul', { class: 'found', 'aria-label': t('Catalogue') });
  const note = el('p', { class: 'wrong', role: 'alert' });

  const ask = async args => JSON.parse(await transport.call('list_indicators', args));
  const work = doing => doing.catch(err => say(err.message));
  const close = () => chart.canvas.focus();
  const items = () => rows.filter(row => row.on).map(({ item }) => (Object.keys(item).length > 1 ? item : item.name));
  const replaced = (k, change) => rows.map((row, i) => (i === k ? { ...row, ...change } : row));
  const added = item => [...rows.filter(row => row.on), asRow(item), ...rows.filter(row => !row.on)];

  /** go puts other rows on the chart and goes on. If they are refused, those before are there again, and it is said
   * why: at the field that is named, else at cause, or aloud if the dialog is closed by then. */
  async function go(changed, cause, next) {
    const before = rows;
    rows = changed;
    note.remove();
    const wrong = await put(items());
    if (wrong) {
      rows = before;
      await put(items());
      const named = [...cause.querySelectorAll('.field')].find(f => new RegExp(`\\b${f.querySelector('[name]').name}\\b`).test(wrong));
      note.textContent = wrong;
      if (cause.isConnected) (named ?? cause).append(note);
      else say(wrong);
    } else if (dialog.isConnected) next?.();
  }
  function begin(place) {
    at = place;
    if (dialog?.isConnected) return;
    dialog = el('div', { class: 'menu studies', role: 'dialog' });
    rows = [...get().map(asRow), ...rows.filter(row => !row.on)];
  }
  function show(label, ...parts) {
    const focused = document.activeElement;
    if (dialog.isConnected) dialog.focus({ preventScroll: true }); // or it would close with what has the focus
    dialog.ariaLabel = label;
    dialog.replaceChildren(...parts);
    openBox(chart.box, at, dialog, chart.canvas);
    (dialog.contains(focused) ? focused : dialog.querySelector('input, select, button')).focus({ preventScroll: true });
  }

  /** list fills the part of the catalogue that is searched for. */
  function list() {
    const mine = ++turn;
    const args = { query: search.value.trim() || undefined, category: category.value === 'all' ? undefined : category.value };
    return work(ask(args).then(({ indicators, more = [] }) => {
      if (mine !== turn) return;
      found.replaceChildren(...[...indicators, ...more.map(name => ({ name }))].map(({ name, description = '' }) => {
        const row = el('li', {}, el('button', { type: 'button', class: 'pick', onclick: () => work(change(name, {}, added, pick)) }, el('strong', {}, name), ' ', description),
          button('+', () => go(added(name), row, pick), { 'aria-label': t('Add {0}', name) }));
        return row;
      }));
      if (!found.firstChild) found.append(el('li', { class: 'soft' }, t('Nothing matches.')));
    }));
  }

  /** pick shows everything: what is on the chart, the catalogue, and the presets. */
  function pick(place = at) {
    begin(place);
    const shown = rows.map(({ item, on }, k) => {
      const text = itemText(item);
      const tick = el('input', { type: 'checkbox', checked: on, onchange: () => go(replaced(k, { on: tick.checked }), row).then(() => { tick.checked = rows[k].on; }) });
      const row = el('li', {}, el('label', {}, tick, el('span', {}, text)), button('…', () => work(edited(k, pick)), { 'aria-label': t('Change {0}', text) }));
      return row;
    });
    const all = recall(presets, {});
    const keep = changed => {
      remember(presets, changed);
      pick();
    };
    const name = el('input', { name: 'preset', 'aria-label': t('Name of these indicators'), placeholder: t('Name'), maxlength: 40 });
    const save = () => name.value.trim() && keep({ ...all, [name.value.trim()]: items() });
    const saved = el('div', { class: 'presets' }, ...Object.entries(all).map(([name, list]) => el('span', {}, button(name, () => go(list.map(asRow), saved, pick), { title: list.map(item => itemText(asRow(item).item)).join(', ') }),
      button('×', () => keep({ ...all, [name]: undefined }), { 'aria-label': t('Forget {0}', name) }))), entry({ class: 'add' }, save, name, button(t('Save'), save)));
    show(t('Indicators'), el('ul', { 'aria-label': t('On the chart') }, ...shown), el('div', { class: 'add' }, search, category), found, saved);
    if (!found.firstChild) list();
  }

  /** change shows the parameters of an indicator. done returns the rows with what it has become, and next is called
   * when they are on the chart; more are further buttons. */
  async function change(name, given, done, next, ...more) {
    const { indicators: [{ configurable_params: parameters, description }] } = await ask({ names: [name] });
    const { fields, read } = parameterFields(parameters, given);
    const finish = () => {
      const changed = read();
      if (changed) go(done({ name, ...changed }), form, next);
    };
    const form = entry({ class: 'fields' }, finish, ...fields);
    const [title, word] = more.length ? [t('Change {0}', name), t('Apply')] : [t('Add {0}', name), t('Add')];
    show(title, el('h2', {}, name), el('p', { class: 'soft' }, description), form,
      el('div', { class: 'add' }, button(word, finish, { class: 'strong' }), ...more, button(t('All indicators'), () => pick())));
  }

  /** edited shows the parameters of a row. */
  function edited(k, next) {
    const { name, ...given } = rows[k].item;
    const remove = button(t('Remove'), () => go(rows.filter((_, i) => i !== k), dialog, next), { class: 'danger' });
    return change(name, given, item => replaced(k, { item }), next, remove);
  }
  function edit(k, place) {
    begin(place);
    return work(edited(k, close));
  }
  return { pick, edit };
}
