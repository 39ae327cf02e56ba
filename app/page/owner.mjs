// The owner's page: log in, then the chart and the panels around it.
import { Account } from './account.mjs';
import { desk } from './desk.mjs';
import { button, el, menu, panel, plain, select, workButton } from './dom.mjs';
import { priceText } from './format.mjs';
import { haltButton, healthLine } from './health.mjs';
import { finishLogin, forgetToken, logIn, logOut, pageKey } from './login.mjs';
import { look, setLook } from './look.mjs';
import { alertsPanel, firedText, ordersPanel, ownerPanels, positionsPanel, tabs, tradesPanel, watchPanel } from './panels.mjs';
import { queryOf, recall, remember, viewIn, viewOf } from './store.mjs';
import { noteSymbol, symbolChoice } from './symbols.mjs';
import { t } from './texts.mjs';
import { Wire } from './wire.mjs';

const place = id => document.getElementById(id);
const { base, trade } = document.documentElement.dataset;
const trading = trade === 'yes';
const period = 5000; // milliseconds between two looks at the server
const seconds = { m: 60, h: 3600, d: 86_400, wk: 604_800, mo: 2_629_800 }; // of the units of intervals
const farthest = 3000; // bars back to which a list leads
const room = 40; // bars beside what it leads to
const highContrast = 'high_contrast'; // a theme that pictures do not have
const usual = ['BTCUSDT', 'ETHUSDT']; // watched at first, and shown, where the source has one of them
const restPeriod = 400; // milliseconds after which a view is noted

const [system, contrasting] = ['(prefers-color-scheme: light)', '(prefers-contrast: more)'].map(query => matchMedia(query));
const chosenTheme = () => recall('wick-theme', 'auto');

/** themeOf returns the theme that is chosen, or that of the system. */
function themeOf() {
  if (chosenTheme() !== 'auto') return chosenTheme();
  return contrasting.matches ? highContrast : system.matches ? 'light' : 'dark';
}

let repaint = () => {}; // the chart, when there is one

function applyTheme() {
  document.documentElement.dataset.theme = themeOf() === 'colorblind' ? 'dark' : themeOf();
  repaint();
}

/** toast shows a line for a while; the newest is last. One that is there stays for longer and is not said twice. */
function toast(text) {
  const there = [...place('toasts').children].find(old => old.textContent === plain(text));
  const line = there ?? el('p', { class: 'toast' }, text);
  if (!there) place('toasts').append(line);
  clearTimeout(line.timer);
  line.timer = setTimeout(() => line.remove(), 12_000);
}

/** begin finds out whether the owner is logged in. */
async function begin() {
  if (location.origin !== base) return location.replace(base + '/app' + location.search); // the login returns to the published address
  setLook(JSON.parse(place('look').textContent));
  applyTheme();
  pageKey(location.search, localStorage);
  for (const query of [system, contrasting]) query.addEventListener('change', applyTheme);
  try {
    const token = await finishLogin(base);
    if (token) open(token);
    else askLogin(t('Log in to see the chart, the account and who is connected.'));
  } catch (err) {
    askLogin(err.message);
  }
}

/** drawer opens or closes what is beside the chart, where there is no room for it. */
function drawer(open) {
  place('side').classList.toggle('open', open);
  place('trade').ariaExpanded = String(open);
}

/** only shows this one of the parts of the page. */
function only(id) {
  for (const part of ['login', 'desk']) place(part).hidden = part !== id;
}

/** askLogin shows the button that begins a login, and why it is needed. */
function askLogin(why) {
  place('login').replaceChildren(el('h2', {}, t('Your page at wick')), el('p', {}, why), button(t('Log in'), () => logIn(base), { class: 'strong' }));
  place('actions').replaceChildren();
  only('login');
}

/** open shows everything for a token. */
function open(token) {
  const wire = new Wire(token, () => {
    wire.gone.abort();
    close();
    forgetToken();
    askLogin(t('The login has ended: it was taken back, expired, or wick was restarted.'));
  });
  const account = new Account(wire);
  const section = place('chart');
  section.replaceChildren();
  const { chart, form, choose, open: show, surround, levels, close } = desk(section, wire, account, {
    options: { barWidth: 7, theme: themeOf(), zone: Intl.DateTimeFormat().resolvedOptions().timeZone, sizes: recall('wick-sizes', {}), onSizes: sizes => remember('wick-sizes', sizes) },
    alerts: trading, say: toast, acted, seen, choice: (input, chosen) => symbolChoice(input, text => wire.symbols(text), chosen),
    shown: ({ symbol }, other) => {
      if (other) noteSymbol(symbol);
    },
    more: [workButton(t('Save picture'), savePicture, toast), workButton(t('Copy call'), copyCall, toast)],
    enlarge: () => (document.fullscreenElement ? document.exitFullscreen() : section.requestFullscreen?.().catch(err => toast(err.message))),
  });
  let chosen = false; // by the reader, since the page was opened
  let [noting, asked, shownPrice] = [0, undefined, ''];
  const name = () => { document.title = plain(`${approvals.count ? `(${approvals.count}) ` : ''}${shownPrice}wick`); };
  async function savePicture() {
    const { symbol, interval, as_of } = chart.data;
    const link = el('a', { href: URL.createObjectURL(await chart.picture()), download: `${symbol}-${interval}-${as_of.slice(0, 16)}.png`.replace(/[^\w.-]/g, '-') });
    link.click();
    URL.revokeObjectURL(link.href);
  }
  /** copyCall copies what a model calls to see the view; without a clipboard it is shown. */
  async function copyCall() {
    const { theme, zone } = chart.options;
    const call = JSON.stringify({ name: 'generate_chart', arguments: { ...viewIn(asked, chart.plan), theme: theme === highContrast ? 'dark' : theme, timezone: zone } });
    await navigator.clipboard?.writeText(call);
    toast(navigator.clipboard ? t('Copied: the call with which a model sees this view.') : call);
  }
  /** seen notes a view in the title and, when it rests, in the address, and in this browser unless a link opened it. */
  function seen(request, byReader) {
    chosen ||= byReader;
    asked = request;
    if (!chart.data) return;
    const { symbol, close: closes, precision } = chart.data;
    shownPrice = `${symbol} ${priceText(closes.at(-1), precision)} · `;
    name();
    clearTimeout(noting);
    noting = setTimeout(() => {
      const query = queryOf(viewIn(request, chart.plan));
      history.replaceState(null, '', '/app' + query);
      if (chosen) remember('wick-view', query);
    }, restPeriod);
  }
  /** lead shows a symbol or, of a time in milliseconds or a period, the bars around it, in the first interval from the
   * present one on that reaches back as far. */
  function lead(symbol, from, to) {
    const length = interval => 1000 * parseInt(interval) * seconds[interval.replace(/\d+/, '')];
    if (from) {
      const interval = [chart.data?.interval ?? '1h', ...look.intervals].find(one => Date.now() - from < farthest * length(one));
      const beside = room * length(interval);
      const [begin, end] = [from - beside, (to || from) + beside].map(time => new Date(time).toISOString());
      show({ symbol, interval, from: begin, to: end });
    } else choose({ symbol });
    drawer(false);
    scrollTo({ top: 0, behavior: 'instant' });
    chart.canvas.focus();
  }

  const shared = { account, transport: wire, say: toast, changed, lead };
  const watch = watchPanel(shared);
  const how = el('p', { class: 'soft' }, t('For the symbol of the chart. Preview first, then confirm.'));
  const [approvals, clients, letters, fired, audit] = ownerPanels(shared);
  const [positions, orders, trades, alerts] = [positionsPanel, ordersPanel, tradesPanel, alertsPanel].map(make => make(shared));
  const panes = tabs(t('Account'), trading ? [approvals, positions, orders, trades, alerts, fired, letters, clients, audit] : [clients]);
  place('panels').replaceChildren(panes.element);
  place('side').replaceChildren(...(trading ? [panel(t('Order'), how, form)] : []), watch.element);

  /** changed asks for everything again and shows it. */
  async function changed() {
    if (trading) await account.refresh().catch(err => toast(err.message));
    await Promise.allSettled([approvals, positions, orders, trades, alerts, letters, clients].map(p => p.show()));
    panes.refresh();
    name();
    levels();
  }
  function acted(line) {
    toast(line);
    changed();
  }
  const health = healthLine(wire, h => halt.show(h.trading !== 'active'));
  const halt = haltButton(wire, toast, health.ask);
  const refresh = async () => {
    if (!document.hidden) {
      await health.ask();
      await changed();
    }
    if (!wire.gone.signal.aborted) setTimeout(refresh, period);
  };

  repaint = () => surround({ theme: themeOf() });
  actions(wire, trading ? [halt.element] : []);
  only('desk');
  const view = viewOf(location.search) ?? viewOf(recall('wick-view', ''));
  if (view) show(view);
  wire.symbols('').catch(() => []).then(found => {
    const known = found.map(({ symbol }) => symbol);
    const [symbol, other] = usual.some(one => known.includes(one)) || !known.length ? usual : known;
    watch.show([symbol, other].filter(one => one));
    if (!view && !wire.gone.signal.aborted) show({ symbol });
  });
  fired.show();
  refresh();
  if (!trading) return;
  const subscribe = () => wire.call('subscribe_notifications', {}).then(() => wire.listen(n => {
    fired.add(n);
    acted(firedText(n));
  })).catch(err => {
    toast(err.message);
    if (err.unanswered && !wire.gone.signal.aborted) setTimeout(subscribe, period); // or no alert would ever come
  });
  subscribe();
}

/** actions fills the row of buttons at the top. */
function actions(wire, more) {
  const choose = e => {
    remember('wick-theme', e.target.value);
    applyTheme();
  };
  const trade = button(t('Trade'), () => drawer(!place('side').classList.contains('open')), { id: 'trade', 'aria-expanded': 'false', 'aria-controls': 'side' });
  const theme = select({ 'aria-label': t('Theme'), onchange: choose }, ['auto', 'light', 'dark', highContrast, 'colorblind']);
  theme.value = chosenTheme();
  const out = workButton(t('Log out'), () => logOut(wire.token).then(wire.onEnd), toast);
  place('actions').replaceChildren(trade, ...more, menu(t('More'), theme, out));
}

begin();
