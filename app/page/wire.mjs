// The transport of the owner's page: tools by POST /mcp, notifications by the stream of
// GET /mcp, and what only the owner may do below /app/api. Each request carries the
// token in its header.
import { textOf } from './host.mjs';

const longestWait = 30_000; // milliseconds between two attempts at the stream

/** parseEvents cuts complete events off a text of a stream: {events: [{id, data}], rest}. */
export function parseEvents(text) {
  const blocks = text.split(/\r?\n\r?\n/);
  const rest = blocks.pop();
  const events = [];
  for (const block of blocks) {
    const event = { id: undefined, data: [] };
    for (const line of block.split(/\r?\n/)) {
      if (line.startsWith('data:')) event.data.push(line.slice(5).replace(/^ /, ''));
      else if (line.startsWith('id:')) event.id = line.slice(3).trim();
    }
    if (event.data.length > 0) events.push({ id: event.id, data: event.data.join('\n') });
  }
  return { events, rest };
}

/** Wire speaks with this server. onEnd is called when the token is no longer good. */
export class Wire {
  constructor(token, onEnd) {
    Object.assign(this, { token, onEnd, limit: 650_000, last: 0, gone: new AbortController() });
  }

  headers(more) {
    return { authorization: 'Bearer ' + this.token, ...more };
  }

  async fetch(path, init = {}) {
    const reply = await fetch(path, { cache: 'no-store', credentials: 'omit', signal: this.gone.signal, ...init, headers: this.headers(init.headers) });
    if (reply.status === 401) {
      this.onEnd();
      throw new Error('the login has ended');
    }
    return reply;
  }

  /** call calls a tool and returns its first text. A server that is busy is asked once
   * more. */
  async call(name, args) {
    const body = JSON.stringify({ jsonrpc: '2.0', id: ++this.last, method: 'tools/call', params: { name, arguments: args } });
    const ask = () => this.fetch('/mcp', { method: 'POST', body, headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' } });
    let reply = await ask();
    if (reply.status === 429 || reply.status === 503) {
      await new Promise(resolve => setTimeout(resolve, 1000));
      reply = await ask();
    }
    const message = await reply.json();
    if (message.error) throw new Error(message.error.message);
    return textOf(message.result);
  }

  /** owner asks for what only the owner may know, or with a body does what only he may
   * do, and returns the answer. */
  async owner(path, form) {
    const init = form ? { method: 'POST', body: new URLSearchParams(form) } : {};
    const reply = await this.fetch('/app/api/' + path, init);
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
        if (!reply.ok) throw new Error(`status ${reply.status}`);
        let text = '';
        const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
        for (;;) {
          const { done, value } = await reader.read();
          if (done) break;
          wait = 1000;
          const { events, rest } = parseEvents(text + value);
          text = rest;
          for (const e of events) {
            id = e.id ?? id;
            const message = JSON.parse(e.data);
            if (message.method === 'notifications/alert_triggered') onAlert(message.params);
          }
        }
      } catch (err) {
        if (this.gone.signal.aborted) return;
      }
      await new Promise(resolve => setTimeout(resolve, wait));
    }
  }

  /** close ends everything under way. */
  close() {
    this.gone.abort();
  }
}
