// The chart as both places have it: with the row of controls above it, its data, and the
// account's levels on it.
import { controls } from './controls.mjs';
import { Loader } from './loader.mjs';
import { Chart } from './view.mjs';

/** usual are the defaults of generate_chart. */
const usual = { interval: '4h', indicators: ['ema_stack', 'rsi', 'macd'], type: 'candles', scale: 'linear', signals: 'auto', volume: true };

/** desk puts a chart into a place. It gets data from transport, calls say with what went
 * wrong, acted with a line when an alert was set, and shown when another chart is shown, with whether it is of another symbol.
 * options are those of the chart; a theme or zone that a call asks for comes before them. */
export function desk(place, transport, account, { options = {}, alerts = true, say, acted, shown, enlarge }) {
  let request = { ...usual };
  const around = { theme: options.theme ?? 'dark', zone: options.zone ?? 'UTC' };
  const chart = new Chart(place, { ...options, onMove: w => loader.reach(w), onLevel: moved, onAim: text => bar.offer(text), onFullscreen: enlarge });
  const loader = new Loader(transport, show, say);
  const bar = controls({ onLoad: change, onLook: restyle, onFullscreen: enlarge, onAlert: alerts ? alertHere : undefined, find: transport.symbols && (text => transport.symbols(text)), say });
  place.prepend(bar.form);
  bar.show(request);

  /** change loads another symbol, interval or list of indicators. Drawings belong to the
   * prices of a symbol, so another symbol removes them. */
  function change(changes) {
    const marks = changes.symbol === request.symbol ? request.marks : undefined;
    loader.load({ ...request, marks, ...changes });
  }
  function restyle(changes) {
    Object.assign(request, changes);
    chart.set(changes);
  }
  /** surround takes the theme and the zone of the place. */
  function surround(changes) {
    Object.assign(around, changes);
    chart.set({ theme: request.theme ?? around.theme, zone: request.timezone ?? around.zone });
  }
  function show(data, how) {
    if (how?.bars) {
      request = { ...usual, ...data.request, bars: loader.args.bars };
      const { type, scale, signals, volume, marks } = request;
      chart.set({ type, scale, signals, volume, marks });
      surround({});
      bar.show(request);
    }
    const other = chart.data?.symbol !== data.symbol;
    chart.setData(data, how);
    place.dataset.state = 'ready';
    levels();
    if (how?.bars) shown?.(request, other);
  }
  function levels() {
    if (chart.data && !chart.dragged) chart.set(account.drawn(chart.data));
  }
  /** alertHere sets an alert at the price that was aimed at. */
  async function alertHere() {
    if (chart.aim() === undefined) throw new Error('Point at a price of the chart first, or go to one with comma, period, Shift and the arrows up and down: the alert is set there.');
    await moved({}, chart.aim());
  }
  async function moved(level, price) {
    try {
      acted(await account.setAlert(chart.data.symbol, price, chart.data.close.at(-1), level.alert));
    } catch (err) {
      say(err.message);
      levels();
    }
  }
  return { chart, change, surround, levels, load: args => loader.load(args), close: () => [loader, chart].forEach(part => part.close()) };
}
