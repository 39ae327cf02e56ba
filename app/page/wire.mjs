// The transport of the owner's page: tools by POST /mcp, notifications by the stream of GET /mcp, and what only the
// owner may do below /app/api. Each request carries the token in its header.
import { textOf, unanswered } from './calls.mjs';
import { forPeople, t } from './texts.mjs';

const longestWait = 30_000; // milliseconds between two attempts at the stream
const callTime = 45_000; // milliseconds for a tool: the server gives a broker 30 seconds for an order, and a price 5
const ownerTime = 20_000; // milliseconds for a function of the owner: a halt takes at most 9 seconds
const internalError = -32603; // of JSON-RPC: the call failed halfway
const streamSilence = 40_000; // milliseconds after which a stream is dead: it has a heartbeat every 15 seconds

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

/** Wire speaks with this server until gone is aborted. onEnd is called when the token no longer works, and heard is
 * when the server last answered. */
export class Wire {
  constructor(token, onEnd) {
    Object.assign(this, { token, onEnd, limit: 500_000, last: 0, gone: new AbortController(), heard: Date.now() });
  }

  async fetch(path, { headers, ...init } = {}) {
    const all = { authorization: 'Bearer ' + this.token, ...headers };
    const reply = await fetch(path, { cache: 'no-store', credentials: 'omit', ...init, headers: all });
    if (reply.status !== 401) return reply;
    this.onEnd();
    throw new Error(t('the login has ended'));
  }

  /** within calls work with a signal that ends after so many milliseconds, counted anew by again, or with the page. */
  async within(milliseconds, work) {
    const end = new AbortController();
    let timer;
    const again = () => {
      clearTimeout(timer);
      timer = setTimeout(() => end.abort(unanswered(t('wick did not answer within {0} s', milliseconds / 1000))), milliseconds);
    };
    again();
    this.gone.signal.addEventListener('abort', () => end.abort(), { signal: end.signal });
    try {
      return await work(end.signal, again);
    } catch (err) {
      if (this.gone.signal.aborted) throw unanswered(t('the login has ended'));
      throw end.signal.aborted ? end.signal.reason : unanswered(t('the connection to wick failed'));
    } finally {
      clearTimeout(timer);
      end.abort(); // the listener goes with it
    }
  }

  /** ask makes a request and returns the whole answer: {status, ok, text}. */
  ask(path, milliseconds, init) {
    return this.within(milliseconds, async signal => {
      const reply = await this.fetch(path, { ...init, signal });
      return { status: reply.status, ok: reply.ok, text: await reply.text() };
    });
  }

  /** read parses an answer of the server, which is then alive. What stands between may answer in its place, and knows
   * nothing of what was done. */
  read({ status, text }) {
    try {
      const value = JSON.parse(text);
      this.heard = Date.now();
      return value;
    } catch {
      throw unanswered(t('wick did not answer: status {0}', status));
    }
  }

  /** rpc makes a request of the protocol and returns its result. A server that is busy is asked once more. */
  async rpc(method, params) {
    const body = JSON.stringify({ jsonrpc: '2.0', id: ++this.last, method, params });
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const ask = () => this.ask('/mcp', callTime, { method: 'POST', body, headers });
    let reply = await ask();
    if (reply.status === 429 || reply.status === 503) reply = await after(1000).then(ask);
    const { error, result } = this.read(reply);
    if (error) throw error.code === internalError ? unanswered(error.message) : new Error(error.message);
    return result;
  }

  /** call calls a tool and returns its first text. Why it failed is said for people. */
  call = async (name, args) => textOf(await this.rpc('tools/call', { name, arguments: args }), forPeople);

  /** symbols returns the markets whose symbol or name contains a text, the best first: [{symbol, name}]; without a
   * text those that the source is known for, of files all. */
  async symbols(text) {
    const { contents } = await this.rpc('resources/read', { uri: 'wick://symbols/' + encodeURIComponent(text || ' ') });
    return JSON.parse(contents[0].text).symbols;
  }

  /** owner calls a function of the owner alone, at a path below /app/api: a GET, or a POST if there is a form. */
  async owner(path, form) {
    const reply = await this.ask('/app/api/' + path, ownerTime, form && { method: 'POST', body: new URLSearchParams(form) });
    if (reply.ok || [502, 503, 504].includes(reply.status)) return this.read(reply); // those three are a proxy's, and no JSON
    throw new Error(reply.text.trim().slice(0, 300));
  }

  /** listen reads the stream until the page ends, and comes back when it breaks or is silent. */
  async listen(onAlert) {
    let id;
    for (let wait = 1000; !this.gone.signal.aborted; wait = Math.min(2 * wait, longestWait)) {
      await this.within(streamSilence, async (signal, again) => {
        const reply = await this.fetch('/mcp', { signal, headers: { accept: 'text/event-stream', ...(id ? { 'last-event-id': id } : {}) } });
        const reader = reply.ok && reply.body.pipeThrough(new TextDecoderStream()).getReader();
        let text = '';
        for (let part; reader && !(part = await reader.read()).done;) {
          again();
          wait = 1000;
          const { events, rest } = parseEvents(text + part.value);
          text = rest;
          for (const e of events) {
            id = e.id ?? id;
            const message = JSON.parse(e.data);
            if (message.method === 'notifications/alert_triggered') onAlert(message.params);
          }
        }
      }).catch(() => {});
      if (!this.gone.signal.aborted) await after(wait);
    }
  }
}
