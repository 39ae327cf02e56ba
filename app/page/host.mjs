// The transport inside a chat: JSON-RPC 2.0 by postMessage with the host, which is the parent window, and no other.
import { textOf, unanswered } from './calls.mjs';
import { el } from './dom.mjs';
import { setLook } from './look.mjs';

const patience = 60_000; // milliseconds that a request may take

/** Host speaks with the parent window. handlers are what is done with its notifications and requests, by method; the
 * answer to a request is what they return, {} for nothing. */
class Host {
  constructor() {
    const limit = 100_000; // characters: hosts write longer results elsewhere
    Object.assign(this, { limit, waiting: new Map(), handlers: { __proto__: null, ping: () => ({}) }, last: 0 });
    window.addEventListener('message', e => {
      if (e.source === window.parent && e.data?.jsonrpc === '2.0') this.receive(e.data);
    });
  }

  /** send posts a message to any origin: it is not known who embeds the page, and nothing secret is sent. */
  send = message => window.parent.postMessage({ jsonrpc: '2.0', ...message }, '*');

  /** request resolves with the result, or fails with the host's error. */
  request(method, params) {
    const id = ++this.last;
    return new Promise((resolve, reject) => {
      const fail = message => reject(unanswered(String(message ?? 'the host refused').slice(0, 300)));
      const late = { error: { message: `the host did not answer ${method} within a minute` } };
      const timer = setTimeout(() => this.waiting.get(id)?.(late), patience);
      this.waiting.set(id, ({ result, error }) => {
        clearTimeout(timer);
        this.waiting.delete(id);
        if (error) fail(error.message);
        else resolve(result);
      });
      this.send({ id, method, params });
    });
  }

  receive({ id, method, params = {}, ...reply }) {
    const handler = this.handlers[method];
    if (method === undefined) this.waiting.get(id)?.(reply);
    else if (id === undefined) handler?.(params);
    else if (handler) this.send({ id, result: handler(params) ?? {} });
    else this.send({ id, error: { code: -32601, message: 'the view does not know this method' } });
  }

  /** open makes the handshake and returns what the host says about its surroundings. */
  async open(name) {
    const said = await this.request('ui/initialize', {
      protocolVersion: '2026-01-26', appInfo: { name, version: '1' }, appCapabilities: { availableDisplayModes: ['inline', 'fullscreen'] },
    });
    this.capabilities = said.hostCapabilities ?? {};
    this.send({ method: 'ui/notifications/initialized', params: {} });
    return said.hostContext ?? {};
  }

  /** call calls a tool through the host and returns its first text. */
  async call(name, args) {
    if (!this.capabilities?.serverTools) throw new Error('this host lets the view call no tools');
    return textOf(await this.request('tools/call', { name, arguments: args }));
  }

  /** tell lets the model know of an action, in one line. Hosts without that ignore it. */
  tell = text => this.request('ui/update-model-context', { content: [{ type: 'text', text }] }).catch(() => {});

  /** close drops what is under way. */
  close() {
    this.waiting.clear();
    Object.assign(this, { handlers: { __proto__: null }, capabilities: {} });
  }
}

/** openView opens a view of a chat and begins to speak with the host. build gets {place, host, notice, say}, where say
 * shows a text in the notice, and returns what the view does: onContext gets the host's surroundings, first and when
 * they change, onInput the arguments of the tool, onResult what it answered unless it failed; onReady is called after
 * the handshake, and end when the view goes. */
export function openView(build) {
  setLook(JSON.parse(document.getElementById('look').textContent));
  const host = new Host();
  const notice = el('p', { class: 'notice', role: 'status', hidden: true });
  const say = text => Object.assign(notice, { textContent: text, hidden: text === '' });
  const { onContext, onInput, onResult, onReady, end } = build({ place: document.getElementById('chart'), host, notice, say });
  const context = c => {
    if (c.theme) document.documentElement.dataset.theme = c.theme;
    const font = c.styles?.variables?.['--font-sans'];
    if (font) document.body.style.fontFamily = font;
    onContext(c);
  };
  Object.assign(host.handlers, {
    'ui/notifications/tool-input': onInput,
    'ui/notifications/tool-result': result => {
      if (result.isError) say(result.content?.find(c => c.type === 'text')?.text ?? 'the tool failed');
      else onResult(result);
    },
    'ui/notifications/tool-cancelled': () => say('The call was cancelled.'),
    'ui/notifications/host-context-changed': context,
    'ui/resource-teardown': () => {
      end();
      setTimeout(() => host.close());
    },
  });
  host.open('wick ' + document.body.dataset.view).then(context).then(onReady).catch(err => say(err.message));
}
