// Behind real proxies: the files of deploy/ with names, ports and certificates
// of this machine put in, TLS on loopback, and through each the login, a tool
// call, a push, and the client's address as --trusted-proxy gives it.
import { execFileSync } from 'node:child_process';
import https from 'node:https';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, here, launch, scratch, sleep, start, toolCount, until } from './lib.mjs';
import { connect, memoryProvider } from './sdk.mjs';
import { check } from './table.mjs';
import { push } from './walk.mjs';

const passphrase = 'one door, three doormen';
const deploy = name => readFileSync(join(here, '..', '..', 'deploy', name), 'utf8');

const proxies = {
  nginx: {
    program: '/usr/sbin/nginx',
    config(dir, port, wick) {
      const server = deploy('nginx.conf')
        .replace('listen 443 ssl http2', `listen 127.0.0.1:${port} ssl http2`).replace('server_name wick.example.com', 'server_name localhost')
        .replace('/etc/ssl/wick/fullchain.pem', `${dir}/cert.pem`).replace('/etc/ssl/wick/privkey.pem', `${dir}/key.pem`).replace('127.0.0.1:9315', `127.0.0.1:${wick}`);
      const temp = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(t => `${t}_temp_path ${dir}/${t};`).join(' ');
      writeFileSync(join(dir, 'config'), `worker_processes 1; pid ${dir}/pid; error_log ${dir}/error.log; daemon off;\nevents {}\nhttp { access_log off; client_body_buffer_size 1m; ${temp}\n${server}\n}`); // its workers may not write to dir
      return ['-c', join(dir, 'config'), '-p', dir];
    },
  },
  caddy: {
    program: '/usr/bin/caddy',
    config(dir, port, wick) {
      const site = deploy('Caddyfile').replace('wick.example.com {', `localhost:${port} {\n\ttls ${dir}/cert.pem ${dir}/key.pem`).replace('127.0.0.1:9315', `127.0.0.1:${wick}`);
      writeFileSync(join(dir, 'config'), site.replace(/^\{$/m, '{\n\tadmin off\n\tauto_https disable_redirects'));
      return ['run', '--config', join(dir, 'config'), '--adapter', 'caddyfile'];
    },
  },
  haproxy: {
    program: '/usr/sbin/haproxy',
    config(dir, port, wick) {
      writeFileSync(join(dir, 'config'), deploy('haproxy.cfg').replace('bind :443', `bind 127.0.0.1:${port}`).replace('/etc/ssl/wick/wick.pem', `${dir}/both.pem`).replace('127.0.0.1:9315', `127.0.0.1:${wick}`) + '\n');
      return ['-f', join(dir, 'config'), '-db'];
    },
  },
};

function certificate(dir) {
  execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2', '-subj', '/CN=localhost',
    '-addext', 'subjectAltName=DNS:localhost', '-keyout', join(dir, 'key.pem'), '-out', join(dir, 'cert.pem')], { stdio: 'ignore' });
  writeFileSync(join(dir, 'both.pem'), readFileSync(join(dir, 'cert.pem')) + readFileSync(join(dir, 'key.pem')));
}

// get asks from another address of this machine.
function get(url, localAddress, headers) {
  return new Promise((done, failed) => {
    https.get(url, { localAddress, family: 4, headers, rejectUnauthorized: false }, r => r.resume().on('end', done)).on('error', failed);
  });
}

async function through(name, proxy) {
  const label = `behind ${name}`;
  if (!existsSync(proxy.program)) {
    await check(label, `${name} is installed (apt-get install ${name})`, false);
    return;
  }
  const dir = scratch();
  certificate(dir);
  const port = await freePort();
  const wick = await start({
    args: ['--serve', '--trade', '--base-url', `https://localhost:${port}`, '--trusted-proxy', '127.0.0.1/32'], env: { WICK_PASSPHRASE: passphrase },
  });
  const child = launch(proxy.program, proxy.config(dir, port, wick.port), { env: { PATH: process.env.PATH, HOME: dir, XDG_DATA_HOME: dir, XDG_CONFIG_HOME: dir }, stdio: 'ignore' });
  const base = `https://localhost:${port}`;
  for (let i = 0; i < 100; i++) {
    try { await fetch(base); break; } catch { await sleep(100); }
  }
  const provider = Object.assign(memoryProvider(), { passphrase });
  await check(label, 'login, tool call and push over TLS', async () => {
    const session = await connect(`${base}/mcp`, provider);
    const tools = await session.tools();
    await push(session);
    await session.close();
    if (tools !== toolCount) throw new Error(`${tools} tools`);
  });
  await check(label, 'the bounds are those of wick: 12 KiB of an authorization request, 1 MiB of a body', async () => {
    const long = await fetch(`${base}/authorize?state=${'s'.repeat(12_000)}`);
    const ping = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
    const headers = { authorization: `Bearer ${provider.tokens().access_token}`, 'content-type': 'application/json' };
    const large = await fetch(`${base}/mcp`, { method: 'POST', headers, body: ping.padEnd(1 << 20) });
    const said = await long.text();
    if (long.status !== 400 || !/wick/.test(said) || large.status !== 200) throw new Error(`${long.status} ${said.slice(0, 200)}, ${large.status}`);
  });
  await check(label, 'the client is known by its own address, not by one it claims', async () => {
    await get(`${base}/.well-known/oauth-authorization-server`, '127.0.0.2', { 'x-forwarded-for': '203.0.113.7' });
    await until('the line of the log', () => /from=127\.0\.0\.2/.test(wick.log()));
  });
  child.kill();
  await wick.stop();
}

export async function behindProxies() {
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'; // the certificates are made here
  for (const [name, proxy] of Object.entries(proxies)) await through(name, proxy);
  delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
}
