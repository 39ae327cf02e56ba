// The chart as both places have it: with the row of controls above it, its data, and the account's levels on it.
import { learn } from './account.mjs';
import { button, el, entry, field, menu, refill, select } from './dom.mjs';
import { look } from './look.mjs';
import { Draft, ticket, trading } from './order.mjs';
import { Loader } from './series.mjs';
import { studies } from './studies.mjs';
import { t } from './texts.mjs';
import { Chart } from './view.mjs';

/** usual are the defaults of generate_chart but for its interval, which is the first that the source has. */
const usual = { indicators: ['ema_stack', 'rsi', 'macd'], type: 'candles', scale: 'linear', signals: 'auto', volume: true };

/** desk puts a chart into a place. It gets data from transport, calls say with what went wrong, acted with a line when
 * an alert was set, shown when another chart is shown, with whether it is of another symbol, and seen after each
 * change of the view, with whether the reader chose it in the controls. options are those of the chart; a theme or
 * zone that a call asks for comes before them. */
export function desk(place, transport, account, { options = {}, alerts = true, say, acted, shown, seen, enlarge, choice, more }) {
  let request = { ...usual };
  let last; // bar that a view is to end with, in unix seconds
  let exact = false; // whether a view names its bars; otherwise there are as many as have room
  const around = { theme: options.theme ?? 'dark', zone: options.zone ?? 'UTC' };
  const draft = new Draft(transport, acted);
  const form = ticket(() => chart, draft);
  const trade = alerts ? trading(() => chart, { account, transport, draft, acted, say }) : {};
  const chart = new Chart(place, { ...options, ...trade, onMove: w => {
    loader.reach(w);
    seen?.(request);
  }, onStudy: (key, place) => dialog.edit(chart.data.studies.findIndex(st => st.key === key), place), onFullscreen: enlarge });
  const dialog = studies(transport, chart, { get: () => request.indicators, put: indicators => choose({ indicators }, () => {}), say });
  const [loading, waiting] = [el('p', { class: 'loading', role: 'status' }, t('No bars yet')), el('ul', { class: 'waiting', 'aria-label': t('Orders without a price') })];
  chart.box.append(loading, waiting);
  const loader = new Loader(transport, show, say);
  const bar = controls({ onLoad: choose, onLook: restyle, onFullscreen: enlarge, onStudies: () => dialog.pick({ x: 8, y: 8 }), choice, more });
  place.dataset.state = 'empty';
  place.prepend(bar.form);
  bar.show({ interval: '4h', ...request });

  /** load shows the chart of a call. It resolves with what went wrong, if something did, of which wrong is told. */
  const load = (args, wrong = say) => loader.load(args).catch(({ message }) => {
    loading.textContent = chart.data ? t('Still {0}, {1}', chart.data.symbol, chart.data.interval) : t('No bars yet');
    wrong(message);
    if (!chart.data) bar.ask();
    return message;
  });
  /** change loads another symbol, which has none of the drawings, another interval or list of indicators. */
  function change(changes, wrong) {
    const marks = changes.symbol === request.symbol ? request.marks : undefined;
    [last, exact] = [undefined, false];
    const { symbol = '', interval = '' } = { ...request, ...changes };
    Object.assign(loading, { textContent: t('Loading {0} {1}…', symbol, interval), hidden: chart.data?.symbol === symbol && chart.data.interval === interval });
    return load({ ...request, bars: options.barWidth ? undefined : request.bars, marks, ...changes }, wrong);
  }
  function choose(changes, wrong) {
    seen?.(request, true);
    return change(changes, wrong);
  }
  /** open shows a view of an address: its bars in view are the newest, or from and to name them. */
  function open({ to, ...view }) {
    bar.show({ ...request, ...view });
    const loaded = change({ ...view, interval: view.interval, bars: view.from ? undefined : view.bars });
    [last, exact] = [Date.parse(to) / 1000, Boolean(view.bars ?? view.from)];
    return loaded;
  }
  function restyle(changes) {
    Object.assign(request, changes);
    chart.set(changes);
    seen?.(request, true);
  }
  /** surround takes the theme and the zone of the place. */
  function surround(changes) {
    Object.assign(around, changes);
    chart.set({ theme: request.theme ?? around.theme, zone: request.timezone ?? around.zone });
  }
  function show(data, how) {
    const other = chart.data?.symbol !== data.symbol;
    if (how?.bars) {
      request = { ...usual, ...data.request, bars: loader.args.bars };
      if (last) delete request.from;
      const { type, scale, signals, volume, marks } = request;
      chart.set({ type, scale, signals, volume, marks });
      surround({});
      bar.show(request);
      loading.hidden = true;
    }
    learn(data.symbol, data.precision);
    if (other) draft.set();
    chart.setData(data, { ...how, exact });
    if (last && how?.bars) {
      const later = data.time.filter(t => t > last).length;
      chart.show({ count: chart.window.count - later, end: data.n - later });
    }
    place.dataset.state = 'ready';
    levels();
    if (how?.bars) shown?.(request, other);
    seen?.(request);
  }
  /** levels draws what the account has at prices, and names what waits without one beside the bars. */
  function levels() {
    if (!chart.data || chart.held) return;
    const { unpriced, ...drawn } = account.drawn(chart.data);
    chart.set(drawn);
    refill(waiting, chart.canvas, () => unpriced.map(l => el('li', {}, l.text, button('×', () => trade.onCross(l), { 'aria-label': t('Cancel order {0}', l.order.order_id) }))));
  }
  return { chart, form, draft, change, choose, open, surround, levels, load, close: () => [loader, chart].forEach(part => part.close()) };
}

/** controls returns the row above the chart, show(request), which fills it, and ask, which asks for a symbol. A change
 * of symbol or interval loads, which onLoad gets; type or scale, which onLook gets, only draw anew. onStudies and
 * onFullscreen have a button; more are buttons beside them. With choice, as of symbolChoice, the field of the symbol
 * has its list. */
function controls({ onLoad, onLook, onStudies, onFullscreen, choice, more = [] }) {
  const load = () => onLoad({ symbol: symbol.value.trim() || undefined, interval: interval.value });
  const symbol = el('input', { name: 'symbol', size: 10, maxlength: 40, autocapitalize: 'characters', placeholder: 'sample', autocomplete: 'off', spellcheck: 'false', enterkeyhint: 'go' });
  const found = choice?.(symbol, load);
  const interval = select({ name: 'interval', onchange: load }, look.intervals);
  const [type, scale] = ['type', 'scale'].map(name => select({ name, onchange: e => onLook({ [name]: e.target.value }) }, look[name + 's']));
  const show = request => {
    symbol.value = request.symbol ?? '';
    for (const input of [interval, type, scale]) input.value = request[input.name] ?? input.value;
  };
  const form = entry({ class: 'controls', 'aria-label': t('What the chart shows') }, load,
    el('div', { class: 'choice' }, field(t('Symbol'), symbol), ...(found ? [found] : [])), field(t('Interval'), interval),
    menu(t('More of the chart'), button(t('Indicators'), onStudies), field(t('Type'), type), field(t('Scale'), scale), button(t('Expand'), onFullscreen), ...more));
  return { form, show, ask: () => symbol.focus() };
}
