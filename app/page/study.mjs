// A study that is changed in place: a form with its parameters, at its row of the legend.
import { button, entry, el, field, select } from './dom.mjs';
import { openBox } from './menu.mjs';
import { valueOf } from './names.mjs';
import { t } from './texts.mjs';

/** parameterFields returns a field per parameter of the catalogue, filled with what was given or
 * its default, and read, which returns those that differ from their defaults. */
export function parameterFields(parameters, given) {
  const text = v => (typeof v === 'string' ? v : JSON.stringify(v));
  const inputs = parameters.map(({ name, type, default: usual, choices, min, max }) => {
    const number = type === 'integer' || type === 'number';
    const input = choices || type === 'boolean' ? select({ name }, (choices ?? [true, false]).map(String))
      : el('input', { name, autocomplete: 'off', maxlength: 1000, ...(number ? { type: 'number', min, max, step: type === 'integer' ? 1 : 'any' } : {}) });
    input.value = text(given[name] ?? usual ?? '');
    return input;
  });
  const fields = parameters.map((p, i) => field(p.name.replaceAll('_', ' '), inputs[i]));
  const read = () => Object.fromEntries(parameters.map((p, i) => [p, inputs[i].value.trim()])
    .filter(([p, value]) => value !== '' && value !== text(p.default ?? '')).map(([p, value]) => [p.name, valueOf(value)]));
  return { fields, read };
}

/** editStudy opens the form of an indicator, a name or an object with parameters, at a place of
 * a chart. done gets what it has become, or undefined if it was removed. */
export async function editStudy(transport, chart, place, indicator, done) {
  const { name, ...given } = typeof indicator === 'string' ? { name: indicator } : indicator;
  const { indicators: [{ configurable_params: parameters }] } = JSON.parse(await transport.call('list_indicators', { names: [name] }));
  const { fields, read } = parameterFields(parameters, given);
  const finish = changed => {
    chart.canvas.focus();
    done(changed);
  };
  const apply = () => {
    const changed = read();
    finish(Object.keys(changed).length ? { name, ...changed } : name);
  };
  const form = entry({ class: 'menu study', role: 'dialog', 'aria-label': t('Change {0}', name) }, apply, ...fields,
    el('div', { class: 'add' }, button(t('Apply'), apply, { class: 'strong' }), button(t('Remove'), () => finish(), { class: 'danger' })));
  openBox(chart.box, place, form, chart.canvas);
  form.querySelector('input, select, button').focus({ preventScroll: true });
}
