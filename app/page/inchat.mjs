// The chart in a chat. The host says what the model asked for; the view asks for the
// bars itself, through the host, so that the model never pays for them.
import { Account } from './account.mjs';
import { controls, usualIndicators } from './controls.mjs';
import { el } from './dom.mjs';
import { Host } from './host.mjs';
import { Loader } from './loader.mjs';
import { setLook } from './look.mjs';
import { ticket } from './ticket.mjs';
import { Chart } from './view.mjs';

const inlineHeight = 460; // logical pixels, where the host leaves it to us
const inputPatience = 1500; // milliseconds after the result in which its arguments may still come

/** start builds the view and begins to speak with the host. */
function start() {
  setLook(JSON.parse(document.getElementById('look').textContent));
  const place = document.getElementById('chart');
  const notice = el('p', { class: 'notice', role: 'status', hidden: true });
  const state = { symbol: undefined, interval: '4h', indicators: usualIndicators, type: 'candles', scale: 'linear', bars: 200, rest: {} };
  const host = new Host();
  const account = new Account(host);
  const say = text => {
    notice.textContent = text;
    notice.hidden = text === '';
  };

  const chart = new Chart(place, { onMove: w => loader.reach(w), onLevel: moved, onFullscreen: enlarge });
  const loader = new Loader(host, (data, how) => {
    chart.setData(data, how);
    place.querySelector('.still')?.remove();
    place.dataset.state = 'ready';
    if (how?.bars) showAccount(data);
  }, say);
  const bar = controls(state, { onLoad: load, onLook: () => chart.set({ type: state.type, scale: state.scale }), onFullscreen: enlarge, onAlert: addAlert });
  const orders = el('details', { class: 'order', hidden: true }, el('summary', {}, 'Order'), ticket(host, () => chart.data?.symbol, done));
  place.before(bar.form);
  place.append(notice, orders);

  function load() {
    say('');
    bar.show();
    const { symbol, interval, indicators, rest } = state;
    loader.load({ ...rest, ...(symbol ? { symbol } : {}), interval, indicators }, state.bars);
  }

  async function showAccount(data) {
    if (data.symbol && state.symbol) await account.refresh().catch(() => {}); // charts only: nothing to show
    chart.set({ levels: account.levels(data.symbol, data.precision) });
    orders.hidden = !account.on;
  }

  function done(line) {
    say(line);
    host.tell(line);
    showAccount(chart.data);
  }

  function addAlert() {
    if (chart.plan) moved({}, chart.priceAt());
  }

  async function moved(level, price) {
    try {
      done(await account.setAlert(chart.data.symbol, price, chart.data.close[chart.data.n - 1], level.alert));
    } catch (err) {
      say(err.message);
      showAccount(chart.data);
    }
  }

  async function enlarge() {
    const mode = state.mode === 'fullscreen' ? 'inline' : 'fullscreen';
    const reply = await host.request('ui/request-display-mode', { mode }).catch(err => say(err.message));
    if (reply?.mode) context({ displayMode: reply.mode });
  }

  /** context takes what the host says of its surroundings, a part at a time. */
  function context(c) {
    if (c.displayMode) state.mode = c.displayMode;
    if (c.theme) {
      document.documentElement.dataset.theme = c.theme;
      chart.set({ theme: c.theme === 'light' ? 'light' : 'dark' });
    }
    if (c.timeZone) chart.set({ zone: c.timeZone });
    const font = c.styles?.variables?.['--font-sans'];
    if (font) document.body.style.fontFamily = font;
    Object.assign(state, { size: c.containerDimensions ?? state.size });
    const { height, maxHeight } = state.size ?? {};
    const rows = state.mode === 'fullscreen' ? height ?? maxHeight ?? window.innerHeight : height ?? Math.min(inlineHeight, maxHeight ?? inlineHeight);
    document.body.style.height = rows + 'px';
    host.notify('ui/notifications/size-changed', { height: rows });
  }

  host.on('ui/notifications/tool-input', ({ arguments: args = {} }) => {
    const { symbol, interval, indicators, type, scale, bars, theme, timezone, signals, volume, width, height, format, pixel_ratio, show, marks, ...rest } = args;
    Object.assign(state, { symbol, interval: interval ?? state.interval, indicators: Array.isArray(indicators) ? indicators : usualIndicators, bars: Number(bars) || 200, rest });
    state.type = type ?? state.type;
    state.scale = scale ?? state.scale;
    chart.set({ type: state.type, scale: state.scale, ...(timezone ? { zone: timezone } : {}), ...(signals ? { signals } : {}), volume: volume !== false });
    state.asked = true;
    if (host.capabilities) load();
  });
  host.on('ui/notifications/tool-result', result => {
    if (result.isError) say(result.content?.find(c => c.type === 'text')?.text ?? 'the tool failed');
    if (!host.capabilities?.serverTools) showPicture(result, 'This host lets the view call no tools, so the chart cannot move.');
    else setTimeout(() => state.asked || showPicture(result, 'This host did not say what was asked for. Name a symbol above for a chart that moves.'), inputPatience);
  });
  host.on('ui/notifications/tool-cancelled', () => say('The call was cancelled.'));
  host.on('ui/notifications/host-context-changed', context);
  host.on('ui/resource-teardown', () => {
    loader.close();
    chart.close();
    setTimeout(() => host.close());
  });

  /** showPicture shows the picture of the tool where there can be no chart, and why. It
   * is painted, since some hosts let a page load no images, not even its own. */
  async function showPicture(result, why) {
    const picture = result.content?.find(c => c.type === 'image' && c.mimeType === 'image/png');
    if (!result.isError) say(why);
    if (!picture || place.dataset.state === 'ready') return;
    const bitmap = await createImageBitmap(new Blob([Uint8Array.from(atob(picture.data), c => c.charCodeAt(0))], { type: 'image/png' }));
    const canvas = el('canvas', { width: bitmap.width, height: bitmap.height, class: 'still', role: 'img', 'aria-label': 'Chart' });
    canvas.getContext('2d').drawImage(bitmap, 0, 0);
    place.prepend(canvas);
    place.dataset.state = 'picture';
  }

  host.open('wick chart', '1').then(said => {
    context(said.hostContext ?? {});
    if (state.asked) load();
  }).catch(err => say(err.message));
}

start();
