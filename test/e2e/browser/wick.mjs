// Starts wick for a test and speaks to it as a client does.
import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// start runs the binary on a free port with a fresh data directory and resolves
// once it has printed its address.
export async function start(binary, { passphrase, trade, extra = [] }) {
  const home = mkdtempSync(join(tmpdir(), 'wick-browser-'));
  const args = ['--serve', '--port', '0', '--source', 'sample', '--data-dir', join(home, 'data')];
  if (trade) args.push('--trade', '--max-order-notional', '1000000000'); // whole bitcoins
  args.push(...extra);
  const env = { PATH: process.env.PATH, HOME: home };
  if (passphrase) env.WICK_PASSPHRASE = passphrase;
  const child = spawn(binary, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  const base = await new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no address within 20 s; log: ${log}`)), 20_000);
    child.stderr.on('data', chunk => {
      log += chunk;
      const found = log.match(/http:\/\/localhost:[1-9]\d*/);
      if (found) {
        clearTimeout(timer);
        resolve(found[0]);
      }
    });
    child.on('error', reject);
    child.on('exit', status => reject(new Error(`exit ${status}; log: ${log}`)));
  });
  return {
    base,
    pid: child.pid,
    log: () => log,
    async stop() {
      const gone = new Promise(resolve => child.once('exit', resolve));
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), 10_000);
      await gone;
      clearTimeout(timer);
      rmSync(home, { recursive: true, force: true });
    },
  };
}

// register makes a client, with the address it would open in the browser.
export async function register(base, name, redirect) {
  const reply = await fetch(`${base}/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_name: name, redirect_uris: [redirect], token_endpoint_auth_method: 'none' }),
  });
  if (reply.status !== 201) throw new Error(`register: ${reply.status} ${await reply.text()}`);
  const { client_id } = await reply.json();
  const verifier = randomBytes(32).toString('base64url');
  const address = new URL(`${base}/authorize`);
  address.search = new URLSearchParams({
    response_type: 'code', client_id, redirect_uri: redirect, state: 'a b&c=d',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'), code_challenge_method: 'S256',
  });
  return {
    address: address.href,
    redirect,
    // exchange returns the token reply for the code in an answer's address.
    async exchange(answer) {
      const r = await fetch(`${base}/token`, {
        method: 'POST',
        body: new URLSearchParams({
          grant_type: 'authorization_code', code: new URL(answer).searchParams.get('code') ?? '', client_id,
          redirect_uri: redirect, code_verifier: verifier,
        }),
      });
      return { status: r.status, ...(await r.json()) };
    },
  };
}
