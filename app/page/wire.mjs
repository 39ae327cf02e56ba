// The transport of the owner's page: tools by POST /mcp, notifications by the stream of
// GET /mcp, and what only the owner may do below /app/api. Each request carries the
// token in its header.
import { textOf } from './host.mjs';

const longestWait = 30_000; // milliseconds between two attempts at the stream

/** after resolves when so many milliseconds have passed. */
const after = milliseconds => new Promise(resolve => setTimeout(resolve, milliseconds));

/** parseEvents cuts complete events off a text of a stream: {events: [{id, data}], rest}. */
export function parseEvents(text) {
  const blocks = text.split(/\r?\n\r?\n/);
  const rest = blocks.pop();
  const events = blocks.map(block => {
    const lines = block.split(/\r?\n/);
    const data = lines.filter(line => line.startsWith('data:')).map(line => line.slice(5).replace(/^ /, ''));
    return { id: lines.find(line => line.startsWith('id:'))?.slice(3).trim(), data: data.join('\n') };
  });
  return { events: events.filter(e => e.data !== ''), rest };
}

/** Wire speaks with this server until gone is aborted. onEnd is called when the token no
 * longer works. */
export class Wire {
  constructor(token, onEnd) {
    Object.assign(this, { token, onEnd, limit: 500_000, last: 0, gone: new AbortController() });
  }

  async fetch(path, { headers, ...init } = {}) {
    const all = { authorization: 'Bearer ' + this.token, ...headers };
    const reply = await fetch(path, { cache: 'no-store', credentials: 'omit', signal: this.gone.signal, ...init, headers: all });
    if (reply.status !== 401) return reply;
    this.onEnd();
    throw new Error('the login has ended');
  }

  /** call calls a tool and returns its first text. A server that is busy is asked once
   * more. */
  async call(name, args) {
    const body = JSON.stringify({ jsonrpc: '2.0', id: ++this.last, method: 'tools/call', params: { name, arguments: args } });
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const ask = () => this.fetch('/mcp', { method: 'POST', body, headers });
    let reply = await ask();
    if (reply.status === 429 || reply.status === 503) reply = await after(1000).then(ask);
    const message = await reply.json();
    if (message.error) throw new Error(message.error.message);
    return textOf(message.result);
  }

  /** owner calls a function that only the owner may use, at a path below /app/api: a GET, or
   * a POST if there is a form. It returns the answer. */
  async owner(path, form) {
    const reply = await this.fetch('/app/api/' + path, form && { method: 'POST', body: new URLSearchParams(form) });
    const text = await reply.text();
    if (!reply.ok) throw new Error(text.trim().slice(0, 300));
    return JSON.parse(text);
  }

  /** listen reads the stream until the page ends, and comes back when it breaks. */
  async listen(onAlert) {
    let id;
    for (let wait = 1000; !this.gone.signal.aborted; wait = Math.min(2 * wait, longestWait)) {
      try {
        const reply = await this.fetch('/mcp', { headers: { accept: 'text/event-stream', ...(id ? { 'last-event-id': id } : {}) } });
        const reader = reply.ok && reply.body.pipeThrough(new TextDecoderStream()).getReader();
        let text = '';
        for (let part; reader && !(part = await reader.read()).done;) {
          wait = 1000;
          const { events, rest } = parseEvents(text + part.value);
          text = rest;
          for (const e of events) {
            id = e.id ?? id;
            const message = JSON.parse(e.data);
            if (message.method === 'notifications/alert_triggered') onAlert(message.params);
          }
        }
      } catch {
        if (this.gone.signal.aborted) return;
      }
      await after(wait);
    }
  }
}
