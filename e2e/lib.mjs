// What the end-to-end checks share: a running wick, a login, and a table of
// what passed.
import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, openSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const here = dirname(fileURLToPath(import.meta.url));
export const bin = resolve(process.env.WICK_BIN ?? join(here, '..', 'wick'));
export const sleep = ms => new Promise(r => setTimeout(r, ms));

const rows = [];

// check records one step of one client; ok may be a condition or a function
// that throws.
export async function check(client, step, ok, detail = '') {
  try {
    if (typeof ok === 'function') ok = await ok();
    if (ok === undefined) ok = true;
  } catch (e) {
    detail = e.stack ?? String(e);
    ok = false;
  }
  rows.push({ client, step, ok });
  console.log(`${ok ? 'PASS' : 'FAIL'} ${client}: ${step}${ok || !detail ? '' : `\n     ${String(detail).slice(0, 600)}`}`);
  return ok;
}

// report prints the totals and ends the process.
export function report() {
  const failed = rows.filter(r => !r.ok).length;
  const clients = [...new Set(rows.map(r => r.client))];
  console.log('\nclient                              passed  failed');
  for (const c of clients) {
    const mine = rows.filter(r => r.client === c);
    console.log(`${c.padEnd(34)} ${String(mine.filter(r => r.ok).length).padStart(7)} ${String(mine.filter(r => !r.ok).length).padStart(7)}`);
  }
  console.log(`\n${rows.length - failed} passed, ${failed} failed`);
  process.exit(failed ? 1 : 0);
}

// freePort picks one below the range for outgoing connections, so that nothing
// takes it between the asking and the using.
export async function freePort() {
  for (;;) {
    const port = 20000 + Math.floor(Math.random() * 12000);
    const free = await new Promise(done => {
      const s = createServer();
      s.on('error', () => done(false));
      s.listen(port, '127.0.0.1', () => s.close(() => done(true)));
    });
    if (free) return port;
  }
}

export function scratch() { return mkdtempSync(join(tmpdir(), 'wick-e2e-')); }

// start runs wick and waits until it answers.
export async function start({ args = ['--serve', '--trade'], env = {}, port, home = scratch() } = {}) {
  port ??= await freePort();
  const logFile = join(home, 'stderr.log');
  const log = openSync(logFile, 'a');
  const child = spawn(bin, [...args, '--port', String(port)], {
    env: { PATH: process.env.PATH, HOME: home, ...env }, stdio: ['ignore', log, log],
  });
  const base = `http://localhost:${port}`;
  for (let i = 0; ; i++) {
    try { await fetch(base); break; } catch {
      if (i > 100 || child.exitCode !== null) throw new Error(`wick did not start: ${readFileSync(logFile, 'utf8')}`);
      await sleep(50);
    }
  }
  const ended = new Promise(done => child.on('exit', (code, signal) => done({ code, signal })));
  return {
    base, port, home, child, ended,
    log: () => readFileSync(logFile, 'utf8'),
    stop: async (signal = 'SIGTERM') => { child.kill(signal); return ended; },
  };
}

const b64 = b => b.toString('base64url');

export function pkce() {
  const verifier = b64(randomBytes(32));
  return { verifier, challenge: b64(createHash('sha256').update(verifier).digest()) };
}

// login gets a token as a command-line client would, without any library.
export async function login(base, { name = 'e2e', redirect = 'http://127.0.0.1:41001/callback', scope } = {}) {
  const get = async (r, want) => {
    const text = await r.text();
    if (r.status !== want) throw new Error(`${r.url}: ${r.status} ${text}`);
    return JSON.parse(text);
  };
  const meta = await get(await fetch(`${base}/.well-known/oauth-authorization-server`), 200);
  const client = await get(await fetch(meta.registration_endpoint, {
    method: 'POST', headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_name: name, redirect_uris: [redirect], token_endpoint_auth_method: 'none' }),
  }), 201);
  const { verifier, challenge } = pkce();
  const url = new URL(meta.authorization_endpoint);
  url.search = new URLSearchParams({
    response_type: 'code', client_id: client.client_id, redirect_uri: redirect, state: 's',
    code_challenge: challenge, code_challenge_method: 'S256', ...(scope ? { scope } : {}),
  });
  const location = (await fetch(url, { redirect: 'manual' })).headers.get('location');
  if (!location) throw new Error('authorize did not redirect: is a passphrase set?');
  const token = await get(await fetch(meta.token_endpoint, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code', code: new URL(location).searchParams.get('code'), redirect_uri: redirect,
      client_id: client.client_id, code_verifier: verifier,
    }),
  }), 200);
  return { token: token.access_token, scope: token.scope, client, meta };
}

// rpc posts one JSON-RPC message and returns status, headers and body.
let nextID = 1;
export async function rpc(base, token, method, params, path = '/mcp') {
  const r = await fetch(base + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json', accept: 'application/json, text/event-stream',
      ...(token ? { authorization: `Bearer ${token}` } : {}),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: nextID++, method, ...(params ? { params } : {}) }),
  });
  const text = await r.text();
  return { status: r.status, headers: r.headers, body: text ? JSON.parse(text) : null };
}

// call runs a tool and returns its parsed first text; a failed tool throws.
export async function call(base, token, name, args = {}) {
  const { body } = await rpc(base, token, 'tools/call', { name, arguments: args });
  if (body.error) throw new Error(JSON.stringify(body.error));
  const text = body.result.content.find(c => c.type === 'text')?.text;
  if (body.result.isError) throw new Error(text);
  return text && (text.startsWith('{') || text.startsWith('[')) ? JSON.parse(text) : text;
}
