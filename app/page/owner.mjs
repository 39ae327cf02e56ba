// The owner's page: log in, then the chart and the panels around it.
import { Account } from './account.mjs';
import { controls, usualIndicators } from './controls.mjs';
import { choices, el } from './dom.mjs';
import { Loader } from './loader.mjs';
import { finishLogin, forgetToken, logIn, logOut, storedToken } from './login.mjs';
import { setLook } from './look.mjs';
import { alertsPanel, approvalsPanel, auditPanel, clientsPanel, firedPanel, firedText, healthText, lettersPanel, ordersPanel, panel, positionsPanel, watchPanel, workButton } from './panels.mjs';
import { ticket } from './ticket.mjs';
import { Chart } from './view.mjs';
import { Wire } from './wire.mjs';

const place = id => document.getElementById(id);
const { base, trade } = document.documentElement.dataset;
const healthPeriod = 5000; // milliseconds

/** themeOf returns the theme that is chosen, or that of the system. */
function themeOf() {
  const chosen = localStorage.getItem('wick-theme') ?? 'auto';
  if (chosen !== 'auto') return chosen;
  return matchMedia('(prefers-color-scheme: light)').matches ? 'light' : 'dark';
}

/** toast shows a line for a while; the newest is last. */
function toast(text) {
  const line = el('p', { class: 'toast' }, text);
  place('toasts').append(line);
  setTimeout(() => line.remove(), 12_000);
}

/** begin finds out whether the owner is logged in. */
async function begin() {
  if (location.origin !== base) {
    location.replace(base + '/app'); // the login returns to the published address
    return;
  }
  setLook(JSON.parse(place('look').textContent));
  applyTheme();
  let token;
  try {
    token = await finishLogin(base) ?? storedToken();
  } catch (err) {
    askLogin(err.message);
    return;
  }
  if (token) open(token);
  else askLogin('');
}

function applyTheme() {
  document.documentElement.dataset.theme = themeOf() === 'light' ? 'light' : 'dark';
}

/** askLogin shows the button that begins a login, and why it is needed. */
function askLogin(why) {
  const box = place('login');
  box.replaceChildren(el('h2', {}, 'Your page at wick'),
    el('p', {}, why || 'Log in to see the chart, the account and who is connected.'),
    el('button', { class: 'strong', type: 'button', onclick: () => logIn(base) }, 'Log in'));
  box.hidden = false;
  place('chart').hidden = true;
  place('panels').hidden = true;
  place('actions').replaceChildren();
}

/** open shows everything for a token. */
function open(token) {
  const wire = new Wire(token, () => {
    wire.close();
    loader.close();
    forgetToken();
    askLogin('The login has ended: it was taken back, expired, or wick was restarted.');
  });
  const account = new Account(wire);
  const state = { symbol: 'BTCUSDT', interval: '4h', indicators: usualIndicators, type: 'candles', scale: 'linear' };
  const section = place('chart');
  section.replaceChildren();
  const chart = new Chart(section, {
    theme: themeOf(), zone: Intl.DateTimeFormat().resolvedOptions().timeZone, onMove: w => loader.reach(w), onLevel: moved, onFullscreen: enlarge,
  });
  const loader = new Loader(wire, (data, how) => {
    chart.setData(data, how);
    section.dataset.state = 'ready';
    showLevels();
  }, toast);
  const load = () => {
    bar.show();
    loader.load({ ...(state.symbol ? { symbol: state.symbol } : {}), interval: state.interval, indicators: state.indicators }, 300);
  };
  const bar = controls(state, {
    onLoad: load, onLook: () => chart.set({ type: state.type, scale: state.scale }), onFullscreen: enlarge,
    onAlert: trade === 'yes' ? () => chart.plan && moved({}, chart.priceAt()) : undefined,
  });
  section.prepend(bar.form);

  function showLevels() {
    if (chart.data && !chart.dragged) chart.set({ levels: account.levels(chart.data.symbol, chart.data.precision) });
  }
  async function moved(level, price) {
    try {
      toast(await account.setAlert(chart.data.symbol, price, chart.data.close[chart.data.n - 1], level.alert));
    } catch (err) {
      toast(err.message);
    }
    await changed();
  }
  function enlarge() {
    if (document.fullscreenElement) document.exitFullscreen();
    else section.requestFullscreen?.().catch(err => toast(err.message));
  }

  const theme = () => themeOf();
  const fired = firedPanel();
  const watch = watchPanel(wire, symbol => {
    state.symbol = symbol;
    load();
    section.scrollIntoView({ behavior: 'instant' });
  }, theme, toast);
  const clients = clientsPanel(wire, toast);
  const ofOwner = [approvalsPanel(wire, toast), clients, lettersPanel(wire)]; // asked for every few seconds
  const shown = trade === 'yes' ? [ofOwner[0], watch] : [watch];
  const ofAccount = [];
  if (trade === 'yes') {
    ofAccount.push(positionsPanel(account, theme, wire, toast, changed), ordersPanel(account, wire, toast, changed), alertsPanel(account, wire, toast, changed));
    const order = { element: panel('Order', el('p', { class: 'soft' }, 'For the symbol of the chart. Preview first, then place.'), ticket(wire, () => chart.data?.symbol, line => { toast(line); changed(); })) };
    shown.push(order, ...ofAccount, fired);
  }
  const audit = auditPanel(wire, toast);
  shown.push(clients, ...(trade === 'yes' ? [audit, ofOwner[2]] : []));
  place('panels').replaceChildren(...shown.map(p => p.element));

  /** changed asks for the account again and shows it everywhere. */
  async function changed() {
    if (trade !== 'yes') return;
    await account.refresh().catch(err => toast(err.message));
    for (const p of ofAccount) p.show();
    showLevels();
  }

  actions(wire, chart, toast);
  for (const id of ['chart', 'panels']) place(id).hidden = false;
  place('login').hidden = true;
  load();
  changed();
  watch.show();
  if (trade === 'yes') {
    wire.call('subscribe_notifications', {}).then(() => wire.listen(n => {
      toast(firedText(n));
      fired.add(n);
      changed();
    })).catch(err => toast(err.message));
  }
  const look = async () => {
    if (!document.hidden) {
      await showHealth(wire);
      for (const p of ofOwner) p.show().catch(() => {});
      if (trade === 'yes') changed();
    }
    if (!wire.gone.signal.aborted) setTimeout(look, healthPeriod);
  };
  look();
}

/** showHealth says how the server is. */
async function showHealth(wire) {
  try {
    const h = await wire.owner('health');
    place('health').textContent = healthText(h);
    place('halt')?.replaceChildren(h.trading === 'active' ? 'Halt trading' : 'Resume trading');
    if (place('halt')) place('halt').dataset.trading = h.trading;
  } catch (err) {
    place('health').textContent = err.message;
  }
}

/** actions fills the row of buttons at the top. */
function actions(wire, chart, say) {
  const theme = el('select', { 'aria-label': 'Theme', onchange: () => {
    localStorage.setItem('wick-theme', theme.value);
    applyTheme();
    chart.set({ theme: themeOf() });
  } }, ...choices(['auto', 'light', 'dark', 'colorblind'], localStorage.getItem('wick-theme') ?? 'auto'));
  const halt = workButton('Halt trading', async () => {
    say(await wire.owner(halt.dataset.trading === 'active' ? 'halt' : 'resume', {}));
    await showHealth(wire);
  }, say, { id: 'halt', class: 'danger' });
  const out = workButton('Log out', async () => {
    await logOut(wire.token);
    wire.onEnd();
  }, say);
  place('actions').replaceChildren(theme, ...(trade === 'yes' ? [halt] : []), out);
}

begin();
