// The small views of a chat: what is held, or which alerts wait. The tool's result is
// there at once; where the host lets the view call tools, it is kept up to date.
import { Account } from './account.mjs';
import { el } from './dom.mjs';
import { Host } from './host.mjs';
import { setLook } from './look.mjs';
import { alertsPanel, positionsPanel } from './panels.mjs';

const period = 5000; // milliseconds between two looks while the view is visible

/** startSmall builds the view and begins to speak with the host. */
function startSmall() {
  setLook(JSON.parse(document.getElementById('look').textContent));
  const place = document.getElementById('chart');
  const host = new Host();
  const account = new Account(host);
  const held = document.body.dataset.view === 'positions';
  const theme = () => (document.documentElement.dataset.theme === 'light' ? 'light' : 'dark');
  const notice = el('p', { class: 'notice', role: 'status', hidden: true });
  const panel = held ? positionsPanel(account, theme, host, say, done) : alertsPanel(account, host, say, done);
  let timer;
  place.append(panel.element, notice);

  function say(text) {
    notice.textContent = text;
    notice.hidden = text === '';
  }

  /** done shows what an action changed, and lets the model know. */
  async function done(line) {
    if (line) host.tell(line);
    await refresh();
  }

  async function refresh() {
    clearTimeout(timer);
    if (!document.hidden) {
      await account.refresh().then(show, err => say(err.message));
    }
    if (host.capabilities?.serverTools) timer = setTimeout(refresh, period);
  }

  function show() {
    if (place.contains(document.activeElement) && document.activeElement.matches('input')) return; // somebody writes a note
    panel.show();
    place.dataset.state = 'ready';
  }

  function context(c) {
    if (c.theme) document.documentElement.dataset.theme = c.theme;
    const font = c.styles?.variables?.['--font-sans'];
    if (font) document.body.style.fontFamily = font;
    if (place.dataset.state) panel.show();
  }

  host.on('ui/notifications/tool-result', result => {
    const text = result.content?.find(c => c.type === 'text')?.text ?? '';
    if (result.isError) {
      say(text || 'the tool failed');
      return;
    }
    try {
      const [kind, reply] = [held ? 'positions' : 'alerts', JSON.parse(text)];
      account[kind] = Array.isArray(reply) ? reply : reply[kind] ?? [];
    } catch {
      return; // a host that keeps the result elsewhere: the view asks itself
    }
    show();
  });
  host.on('ui/notifications/tool-cancelled', () => say('The call was cancelled.'));
  host.on('ui/notifications/host-context-changed', context);
  host.on('ui/resource-teardown', () => {
    clearTimeout(timer);
    size.disconnect();
    host.capabilities = {};
    setTimeout(() => host.close());
  });

  const size = new ResizeObserver(() => host.capabilities && host.notify('ui/notifications/size-changed', { height: Math.ceil(place.getBoundingClientRect().height) }));
  host.open('wick ' + document.body.dataset.view, '1').then(said => {
    context(said.hostContext ?? {});
    size.observe(place);
    if (host.capabilities.serverTools) refresh();
  }).catch(err => say(err.message));
}

startSmall();
