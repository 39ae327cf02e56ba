// The small views of a chat: what is held, or which alerts wait. The tool's result is
// there at once; where the host lets the view call tools, it is kept up to date.
import { Account } from './account.mjs';
import { beginView, runView } from './host.mjs';
import { alertsPanel, positionsPanel } from './panels.mjs';

const period = 5000; // milliseconds between two looks while the view is visible

/** startSmall builds the view and begins to speak with the host. */
function startSmall() {
  const view = beginView();
  const { place, host, notice, say } = view;
  const account = new Account(host);
  const kind = document.body.dataset.view;
  const theme = () => (document.documentElement.dataset.theme === 'light' ? 'light' : 'dark');
  const panel = kind === 'positions' ? positionsPanel(account, theme, host, say, done) : alertsPanel(account, host, say, done);
  const size = new ResizeObserver(() => host.notify('ui/notifications/size-changed', { height: Math.ceil(place.getBoundingClientRect().height) }));
  let timer;
  place.append(panel.element, notice);

  /** done shows what an action changed, and lets the model know. */
  async function done(line) {
    if (line) host.tell(line);
    await refresh();
  }

  async function refresh() {
    clearTimeout(timer);
    if (!document.hidden) await account.refresh().then(show, err => say(err.message));
    if (host.capabilities?.serverTools) timer = setTimeout(refresh, period);
  }

  function show() {
    if (place.contains(document.activeElement) && document.activeElement.matches('input')) return; // somebody writes a note
    panel.show();
    place.dataset.state = 'ready';
  }

  function onResult(result) {
    if (result.isError) return;
    try {
      const reply = JSON.parse(result.content.find(c => c.type === 'text').text);
      account[kind] = Array.isArray(reply) ? reply : reply[kind] ?? [];
    } catch {
      return; // a host that keeps the result elsewhere: the view asks itself
    }
    show();
  }

  runView(view, {
    onResult,
    onContext: () => place.dataset.state && panel.show(),
    onReady: () => {
      size.observe(place);
      if (host.capabilities.serverTools) refresh();
    },
    end: () => {
      clearTimeout(timer);
      size.disconnect();
      host.capabilities = {};
    },
  });
}

startSmall();
