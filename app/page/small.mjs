// The small views of a chat: what is held, or which alerts wait. The tool's result is
// there at once; where the host lets the view call tools, it is kept up to date.
import { Account } from './account.mjs';
import { openView } from './host.mjs';
import { alertsPanel, positionsPanel } from './panels.mjs';

const period = 5000; // milliseconds between two looks while the view is visible

openView(({ place, host, notice, say }) => {
  const account = new Account(host);
  const kind = document.body.dataset.view;
  const theme = () => (document.documentElement.dataset.theme === 'light' ? 'light' : 'dark');
  const panel = (kind === 'positions' ? positionsPanel : alertsPanel)({ account, transport: host, say, changed, theme });
  const height = () => Math.ceil(place.getBoundingClientRect().height);
  const size = new ResizeObserver(() => host.send({ method: 'ui/notifications/size-changed', params: { height: height() } }));
  let timer;
  place.append(panel.element, notice);

  /** changed shows what an action did, and lets the model know. */
  async function changed(line) {
    if (line) host.tell(line);
    await refresh();
  }
  async function refresh() {
    clearTimeout(timer);
    if (!host.capabilities.serverTools) return;
    if (!document.hidden) await account.refresh().then(show, err => say(err.message));
    timer = setTimeout(refresh, period);
  }
  function show() {
    if (place.contains(document.activeElement) && document.activeElement.matches('input')) return; // somebody writes a note
    panel.show();
    place.dataset.state = 'ready';
  }
  function onResult(result) {
    try {
      const reply = JSON.parse(result.content.find(c => c.type === 'text').text);
      account[kind] = Array.isArray(reply) ? reply : reply[kind] ?? [];
    } catch {
      return; // a host that keeps the result elsewhere: the view asks itself
    }
    show();
  }
  function onReady() {
    size.observe(place);
    refresh();
  }
  function end() {
    clearTimeout(timer);
    size.disconnect();
    host.capabilities = {};
  }
  return { onResult, onContext: () => place.dataset.state && panel.show(), onReady, end };
});
