// The row above the chart: what it shows and how. A change of symbol or interval loads, all
// else only draws anew.
import { button, el, entry, field, menu, select } from './dom.mjs';
import { look } from './look.mjs';
import { t } from './texts.mjs';

/** controls returns the row, show(request), which fills it, and ask, which asks for a symbol. onLoad gets symbol and interval,
 * onLook type or scale, as they were chosen; onStudies and onFullscreen have a button; more are buttons beside them.
 * With choice, as of symbolChoice, the field of the symbol has the list that it returns. */
export function controls({ onLoad, onLook, onStudies, onFullscreen, choice, more = [] }) {
  const symbol = el('input', { name: 'symbol', size: 10, maxlength: 40, autocapitalize: 'characters', placeholder: 'sample', autocomplete: 'off', spellcheck: 'false', enterkeyhint: 'go' });
  const found = choice?.(symbol, load);
  const interval = select({ name: 'interval', onchange: load }, look.intervals);
  const [type, scale] = ['type', 'scale'].map(name => select({ name, onchange: e => onLook({ [name]: e.target.value }) }, look[name + 's']));

  function show(request) {
    symbol.value = request.symbol ?? '';
    for (const input of [interval, type, scale]) input.value = request[input.name];
  }
  function load() {
    onLoad({ symbol: symbol.value.trim() || undefined, interval: interval.value });
  }
  const form = entry({ class: 'controls', 'aria-label': t('What the chart shows') }, load,
    el('div', { class: 'choice' }, field(t('Symbol'), symbol), ...(found ? [found] : [])), field(t('Interval'), interval),
    menu(t('More of the chart'), button(t('Indicators'), onStudies), field(t('Type'), type), field(t('Scale'), scale), button(t('Expand'), onFullscreen), ...more));
  return { form, show, ask: () => symbol.focus() };
}
