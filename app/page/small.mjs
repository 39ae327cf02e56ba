// The small views of a chat: what is held, or which alerts wait, as the tool answered, and up to date where the host
// lets the view call tools. A line says from when it is: a host may show a result again that is days old.
import { Account } from './account.mjs';
import { el } from './dom.mjs';
import { openView } from './host.mjs';
import { alertsPanel, positionsPanel } from './panels.mjs';

const period = 5000; // milliseconds between two looks while the view is visible

/** clock writes a time on the clock of the browser: 2026-01-31 14:30:05. */
const clock = time => new Date(time).toLocaleString('sv');

/** asAnswered says from when a tool's result is, as far as it shows that: by its oldest price. */
function asAnswered(items) {
  const times = items.map(item => Date.parse(item.price_at ?? '')).filter(t => !Number.isNaN(t));
  return times.length ? `As the tool answered, with prices of ${clock(Math.min(...times))}` : 'As the tool answered when it was called';
}

openView(({ place, host, notice, say }) => {
  const account = new Account(host);
  const kind = document.body.dataset.view;
  const panel = (kind === 'positions' ? positionsPanel : alertsPanel)({ account, transport: host, say, changed });
  const height = () => Math.ceil(place.getBoundingClientRect().height);
  const size = new ResizeObserver(() => host.send({ method: 'ui/notifications/size-changed', params: { height: height() } }));
  const age = el('p', { class: 'soft age' });
  let timer;
  place.append(panel.element, age, notice);

  /** changed shows what an action did, and lets the model know. */
  async function changed(line) {
    if (line) host.tell(line);
    await refresh();
  }
  async function refresh() {
    clearTimeout(timer);
    if (!host.capabilities.serverTools) return;
    if (!document.hidden) {
      await account.refresh().then(() => {
        age.dataset.of = `As of ${clock(Date.now())}`;
        age.textContent = age.dataset.of + '.';
        show();
      }, err => { age.textContent = `${age.dataset.of ?? 'No answer yet'}. Asking again failed: ${err.message}.`; });
    }
    timer = setTimeout(refresh, period);
  }
  function show() {
    panel.show();
    place.dataset.state = 'ready';
  }
  function onResult(result) {
    if (account.whole) return; // the view has asked meanwhile, and a result may be old
    try {
      const reply = JSON.parse(result.content.find(c => c.type === 'text').text);
      account[kind] = Array.isArray(reply) ? reply : reply[kind] ?? [];
    } catch {
      return; // a host that keeps the result elsewhere: the view asks itself
    }
    age.dataset.of = asAnswered(account[kind]);
    age.textContent = age.dataset.of + (host.capabilities?.serverTools ? '.' : '. This host lets the view call no tools, so it stays like this.');
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
