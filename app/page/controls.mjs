// The row above the chart: what it shows and how. A change of symbol, interval or
// indicators loads, all else only draws anew.
import { choices, el, entry } from './dom.mjs';
import { look } from './look.mjs';
import { indicatorsText, parseIndicators } from './names.mjs';

const intervals = ['1m', '3m', '5m', '15m', '30m', '1h', '2h', '4h', '6h', '8h', '12h', '1d', '3d', '1wk', '1mo'];

/** usualIndicators are shown when none were asked for. */
export const usualIndicators = ['ema_stack', 'rsi', 'macd'];

/** controls returns the row. state has symbol, interval, indicators, type, scale;
 * onLoad and onLook are called with it changed. */
export function controls(state, { onLoad, onLook, onFullscreen, onAlert }) {
  const field = (label, input) => el('label', { class: 'field' }, el('span', {}, label), input);
  const symbol = el('input', { name: 'symbol', size: 10, maxlength: 40, autocomplete: 'off', autocapitalize: 'characters', spellcheck: 'false', placeholder: 'sample' });
  const interval = el('select', { name: 'interval' }, ...choices(intervals, state.interval));
  const indicators = el('input', { name: 'indicators', maxlength: 400, autocomplete: 'off', autocapitalize: 'none', spellcheck: 'false' });
  const type = el('select', { name: 'type', onchange: () => restyle('type', type.value) }, ...choices(look.types, state.type));
  const scale = el('select', { name: 'scale', onchange: () => restyle('scale', scale.value) }, ...choices(look.scales, state.scale));
  const restyle = (name, value) => onLook(Object.assign(state, { [name]: value }));
  const show = () => {
    symbol.value = state.symbol ?? '';
    interval.value = state.interval;
    indicators.value = indicatorsText(state.indicators);
    type.value = state.type;
    scale.value = state.scale;
  };
  const load = () => {
    const text = indicators.value;
    const list = text === indicatorsText(state.indicators) ? state.indicators : parseIndicators(text);
    Object.assign(state, { symbol: symbol.value.trim() || undefined, interval: interval.value, indicators: list });
    onLoad(state);
  };
  interval.addEventListener('change', load);
  const form = entry({ class: 'controls', 'aria-label': 'What the chart shows' }, load,
    field('Symbol', symbol), field('Interval', interval), field('Indicators', indicators), el('button', { type: 'button', onclick: load }, 'Show'),
    field('Type', type), field('Scale', scale));
  indicators.closest('label').classList.add('wide');
  if (onAlert) form.append(el('button', { type: 'button', onclick: onAlert }, 'Alert'));
  if (onFullscreen) form.append(el('button', { type: 'button', onclick: onFullscreen }, 'Full screen'));
  show();
  return { form, show };
}
