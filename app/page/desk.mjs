// The chart as both places have it: with the row of controls above it, its data, and the
// account's levels on it.
import { controls } from './controls.mjs';
import { el } from './dom.mjs';
import { Draft } from './draft.mjs';
import { Loader } from './loader.mjs';
import { learn } from './market.mjs';
import { studies } from './studies.mjs';
import { t } from './texts.mjs';
import { twoSteps } from './ticket.mjs';
import { trading } from './trade.mjs';
import { Chart } from './view.mjs';

/** usual are the defaults of generate_chart. */
const usual = { interval: '4h', indicators: ['ema_stack', 'rsi', 'macd'], type: 'candles', scale: 'linear', signals: 'auto', volume: true };

/** desk puts a chart into a place. It gets data from transport, calls say with what went
 * wrong, acted with a line when an alert was set, shown when another chart is shown, with whether it is of another symbol,
 * and seen after each change of the view, with whether the reader chose it in the controls.
 * options are those of the chart; a theme or zone that a call asks for comes before them. */
export function desk(place, transport, account, { options = {}, alerts = true, say, acted, shown, seen, enlarge, choice, more }) {
  let request = { ...usual };
  let last; // bar that a view is to end with, in unix seconds
  let exact = false; // whether a view names its bars; otherwise there are as many as have room
  const around = { theme: options.theme ?? 'dark', zone: options.zone ?? 'UTC' };
  const draft = new Draft(twoSteps(transport, acted));
  const trade = alerts ? trading(() => chart, { account, transport, draft, acted, say }) : {};
  const chart = new Chart(place, { ...options, ...trade.options, onMove: w => {
    loader.reach(w);
    seen?.(request);
  }, onStudy: (st, place) => dialog.edit(chart.data.studies.indexOf(st), place), onFullscreen: enlarge });
  const dialog = studies(transport, chart, { get: () => request.indicators, put: indicators => choose({ indicators }), say });
  if (trade.bar) chart.box.after(trade.bar);
  const loading = el('p', { class: 'loading', role: 'status', hidden: true });
  chart.box.append(loading);
  const loader = new Loader(transport, show, text => {
    if (!loading.hidden && chart.data) loading.textContent = t('Still {0}, {1}', chart.data.symbol, chart.data.interval);
    say(text);
    if (!chart.data) bar.ask();
  });
  const bar = controls({ onLoad: choose, onLook: restyle, onFullscreen: enlarge, onStudies: () => dialog.pick({ x: 8, y: 8 }), choice, more });
  place.prepend(bar.form);
  bar.show(request);

  /** change loads another symbol, interval or list of indicators. Drawings belong to the
   * prices of a symbol, so another symbol removes them. */
  function change(changes) {
    const marks = changes.symbol === request.symbol ? request.marks : undefined;
    [last, exact] = [undefined, false];
    const { symbol = '', interval } = { ...request, ...changes };
    Object.assign(loading, { textContent: t('Loading {0} {1}…', symbol, interval), hidden: chart.data?.symbol === symbol && chart.data.interval === interval });
    return loader.load({ ...request, bars: options.barWidth ? undefined : request.bars, marks, ...changes });
  }
  function choose(changes) {
    seen?.(request, true);
    change(changes);
  }
  /** open shows a view of an address: its bars in view are the newest, or from and to name them. */
  function open({ to, ...view }) {
    bar.show({ ...request, ...view });
    const loaded = change({ ...view, bars: view.from ? undefined : view.bars });
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
    if (how?.bars) {
      request = { ...usual, ...data.request, bars: loader.args.bars };
      if (last) delete request.from;
      const { type, scale, signals, volume, marks } = request;
      chart.set({ type, scale, signals, volume, marks });
      surround({});
      bar.show(request);
    }
    if (how?.bars) loading.hidden = true;
    const other = chart.data?.symbol !== data.symbol;
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
  function levels() {
    if (chart.data && !chart.held) chart.set(account.drawn(chart.data));
  }
  return { chart, draft, change, choose, open, surround, levels, load: args => loader.load(args), close: () => [loader, chart].forEach(part => part.close()) };
}
