// The owner's page: log in, then the chart and the panels around it.
import { Account } from './account.mjs';
import { desk } from './desk.mjs';
import { choices, el } from './dom.mjs';
import { finishLogin, forgetToken, logIn, logOut, storedToken } from './login.mjs';
import { setLook } from './look.mjs';
import { alertsPanel, approvalsPanel, auditPanel, clientsPanel, firedPanel, firedText, healthText, lettersPanel, ordersPanel, panel, positionsPanel, watchPanel, workButton } from './panels.mjs';
import { ticket } from './ticket.mjs';
import { Wire } from './wire.mjs';

const place = id => document.getElementById(id);
const { base, trade } = document.documentElement.dataset;
const trading = trade === 'yes';
const chartBars = 300; // that a chart begins with
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
    close();
    forgetToken();
    askLogin('The login has ended: it was taken back, expired, or wick was restarted.');
  });
  const account = new Account(wire);
  const section = place('chart');
  section.replaceChildren();
  const { chart, change, surround, levels, close } = desk(section, wire, account, {
    options: { theme: themeOf(), zone: Intl.DateTimeFormat().resolvedOptions().timeZone }, alerts: trading, say: toast, acted,
    enlarge: () => (document.fullscreenElement ? document.exitFullscreen() : section.requestFullscreen?.().catch(err => toast(err.message))),
  });
  function acted(line) {
    toast(line);
    changed();
  }
  const fired = firedPanel();
  const watch = watchPanel(wire, symbol => {
    change({ symbol, bars: chartBars });
    section.scrollIntoView({ behavior: 'instant' });
  }, themeOf, toast);
  const [approvals, clients, letters] = [approvalsPanel(wire, toast), clientsPanel(wire, toast), lettersPanel(wire)];
  const ofAccount = [ordersPanel(account, wire, toast, changed), positionsPanel(account, themeOf, wire, toast, changed), alertsPanel(account, wire, toast, changed)];
  const order = { element: panel('Order', el('p', { class: 'soft' }, 'For the symbol of the chart. Preview first, then place.'), ticket(wire, () => chart.data?.symbol, acted)) };
  const shown = trading ? [approvals, watch, order, ...ofAccount, fired, clients, auditPanel(wire, toast), letters] : [watch, clients];
  place('panels').replaceChildren(...shown.map(p => p.element));

  /** changed asks for the account again and shows it everywhere. */
  async function changed() {
    if (!trading) return;
    await account.refresh().catch(err => toast(err.message));
    for (const p of ofAccount) p.show();
    levels();
  }

  actions(wire, surround);
  for (const id of ['chart', 'panels']) place(id).hidden = false;
  place('login').hidden = true;
  change({ symbol: 'BTCUSDT', bars: chartBars });
  watch.show();
  if (trading) {
    wire.call('subscribe_notifications', {}).then(() => wire.listen(n => {
      fired.add(n);
      acted(firedText(n));
    })).catch(err => toast(err.message));
  }
  const refresh = async () => {
    if (!document.hidden) {
      await showHealth(wire);
      for (const p of [approvals, clients, letters]) p.show().catch(() => {});
      changed();
    }
    if (!wire.gone.signal.aborted) setTimeout(refresh, healthPeriod);
  };
  refresh();
}

/** showHealth says how the server is. */
async function showHealth(wire) {
  try {
    const h = await wire.owner('health');
    place('health').textContent = healthText(h);
    const halt = place('halt');
    if (!halt) return;
    halt.textContent = h.trading === 'active' ? 'Halt trading' : 'Resume trading';
    halt.dataset.trading = h.trading;
  } catch (err) {
    place('health').textContent = err.message;
  }
}

/** actions fills the row of buttons at the top. */
function actions(wire, surround) {
  const theme = el('select', { 'aria-label': 'Theme', onchange: () => {
    localStorage.setItem('wick-theme', theme.value);
    applyTheme();
    surround({ theme: themeOf() });
  } }, ...choices(['auto', 'light', 'dark', 'colorblind']));
  theme.value = localStorage.getItem('wick-theme') ?? 'auto';
  const halt = workButton('Halt trading', async () => {
    toast(await wire.owner(halt.dataset.trading === 'active' ? 'halt' : 'resume', {}));
    await showHealth(wire);
  }, toast, { id: 'halt', class: 'danger' });
  const out = workButton('Log out', async () => {
    await logOut(wire.token);
    wire.onEnd();
  }, toast);
  place('actions').replaceChildren(theme, ...(trading ? [halt] : []), out);
}

begin();
