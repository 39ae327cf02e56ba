// The transport inside a chat: JSON-RPC 2.0 with the host by postMessage. The host is
// the parent window, the only one that is spoken to and listened to.

const patience = 60_000; // milliseconds that a request may take

/** Host speaks with the parent window. */
export class Host {
  constructor() {
    this.limit = 100_000; // hosts write longer results elsewhere
    this.waiting = new Map();
    this.handlers = new Map();
    this.last = 0;
    window.addEventListener('message', e => {
      if (e.source === window.parent && e.data?.jsonrpc === '2.0') this.receive(e.data);
    });
  }

  /** on sets what is done with a notification or request of the host; the answer to a
   * request is what it returns, {} for nothing. */
  on(method, handler) {
    this.handlers.set(method, handler);
  }

  send(message) {
    window.parent.postMessage({ jsonrpc: '2.0', ...message }, '*'); // who embeds the page is not known; nothing secret is sent
  }

  notify(method, params = {}) {
    this.send({ method, params });
  }

  /** request resolves with the result, or fails with the host's error. */
  request(method, params = {}) {
    const id = ++this.last;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.settle(id, { error: { message: `the host did not answer ${method} within a minute` } }), patience);
      this.waiting.set(id, { resolve, reject, timer });
      this.send({ id, method, params });
    });
  }

  settle(id, { result, error }) {
    const w = this.waiting.get(id);
    if (!w) return;
    this.waiting.delete(id);
    clearTimeout(w.timer);
    if (error) w.reject(new Error(String(error.message ?? 'the host refused').slice(0, 300)));
    else w.resolve(result);
  }

  receive(message) {
    if (message.method === undefined) {
      this.settle(message.id, message);
      return;
    }
    const handler = message.method === 'ping' ? () => ({}) : this.handlers.get(message.method);
    if (message.id === undefined) {
      handler?.(message.params ?? {});
    } else if (handler) {
      this.send({ id: message.id, result: handler(message.params ?? {}) ?? {} });
    } else {
      this.send({ id: message.id, error: { code: -32601, message: 'the view does not know this method' } });
    }
  }

  /** open makes the handshake and returns what the host says of itself. */
  async open(name, version) {
    const said = await this.request('ui/initialize', {
      protocolVersion: '2026-01-26', appInfo: { name, version }, appCapabilities: { availableDisplayModes: ['inline', 'fullscreen'] },
    });
    this.capabilities = said.hostCapabilities ?? {};
    this.notify('ui/notifications/initialized');
    return said;
  }

  /** call calls a tool through the host and returns its first text. */
  async call(name, args) {
    if (!this.capabilities?.serverTools) throw new Error('this host lets the view call no tools');
    return textOf(await this.request('tools/call', { name, arguments: args }));
  }

  /** tell lets the model know of an action, in one line. Hosts without that ignore it. */
  tell(line) {
    this.request('ui/update-model-context', { content: [{ type: 'text', text: line }] }).catch(() => {});
  }

  /** close drops what is under way. */
  close() {
    for (const w of this.waiting.values()) clearTimeout(w.timer);
    this.waiting.clear();
    this.handlers.clear();
  }
}

/** textOf returns the first text of a tool's result, and fails with it if the tool
 * did. */
export function textOf(result) {
  const text = (result?.content ?? []).find(c => c.type === 'text')?.text ?? '';
  if (result?.isError) throw new Error(text.slice(0, 500) || 'the tool failed');
  return text;
}
