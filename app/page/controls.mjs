// The row above the chart: what it shows and how. A change of symbol, interval or
// indicators loads, all else only draws anew.
import { button, el, entry, field, menu, select } from './dom.mjs';
import { look } from './look.mjs';
import { suggest } from './suggest.mjs';
import { indicatorsText, parseIndicators } from './names.mjs';
import { t } from './texts.mjs';

/** controls returns the row and show(request), which fills it. onLoad gets symbol, interval and
 * indicators, onLook type or scale, as they were chosen; onFullscreen has a button.
 * more are buttons beside it. With find, which searches symbols, the field of the symbol offers what was found. */
export function controls({ onLoad, onLook, onFullscreen, find, more = [] }) {
  const plain = { autocomplete: 'off', spellcheck: 'false' };
  const symbol = el('input', { name: 'symbol', size: 10, maxlength: 40, autocapitalize: 'characters', placeholder: 'sample', ...plain });
  const found = find && suggest(symbol, find, load);
  const interval = select({ name: 'interval', onchange: load }, look.intervals);
  const indicators = el('input', { name: 'indicators', maxlength: 1000, autocapitalize: 'none', ...plain });
  const [type, scale] = ['type', 'scale'].map(name => select({ name, onchange: e => onLook({ [name]: e.target.value }) }, look[name + 's']));

  function show(request) {
    symbol.value = request.symbol ?? '';
    for (const input of [interval, type, scale]) input.value = request[input.name];
    indicators.value = indicatorsText(request.indicators);
  }
  function load() {
    onLoad({ symbol: symbol.value.trim() || undefined, interval: interval.value, indicators: parseIndicators(indicators.value) });
  }
  const form = entry({ class: 'controls', 'aria-label': t('What the chart shows') }, load,
    field(t('Symbol'), symbol), ...(found ? [found] : []), field(t('Interval'), interval),
    menu(t('More of the chart'), field(t('Indicators'), indicators, 'wide'), button(t('Show'), load), field(t('Type'), type), field(t('Scale'), scale), button(t('Expand'), onFullscreen), ...more));
  return { form, show };
}
