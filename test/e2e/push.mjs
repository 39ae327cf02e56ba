// Pushes that arrive: a client whose connection is cut in the middle of 500
// notifications gets all of them, in order, directly and through nginx.
import { existsSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { join } from 'node:path';
import { freePort, launch, scratch, sleep, start } from './lib.mjs';
import { connect, memoryProvider } from './sdk.mjs';
import { check } from './table.mjs';

const total = 500;

// cuttingProxy passes bytes on and destroys the first connection that carries
// more than `after` events: no goodbye, as when a phone loses its network.
function cuttingProxy(target, after) {
  let cut = false;
  const server = net.createServer(inside => {
    const outside = net.connect(target, '127.0.0.1');
    let events = 0;
    const end = () => { inside.destroy(); outside.destroy(); };
    inside.on('error', end).on('close', end);
    outside.on('error', end).on('close', end);
    inside.pipe(outside);
    outside.on('data', d => {
      events += d.toString('latin1').split('\ndata: ').length - 1;
      if (!cut && events > after) {
        cut = true;
        inside.write(d.subarray(0, Math.floor(d.length / 2)), () => inside.resetAndDestroy());
        outside.destroy();
        return;
      }
      inside.write(d);
    });
  });
  return { server, wasCut: () => cut };
}

async function fiveHundred(name, wickPort, wick) {
  const { server, wasCut } = cuttingProxy(wickPort, 150);
  await new Promise(done => server.listen(wick.proxyPort, '127.0.0.1', done));
  await check(name, `${total} notifications over a cut connection, all and in order`, async () => {
    const { client } = await connect(`${wick.base}/mcp`, Object.assign(memoryProvider(), { passphrase: wick.passphrase }));
    const got = client.pushes;
    await client.callTool({ name: 'subscribe_notifications', arguments: {} });
    const want = [];
    for (let i = 0; i < total; i++) {
      const r = await client.callTool({ name: 'set_alert', arguments: { symbol: 'BTCUSDT', condition: { price_above: (i + 1) / 10000 } } });
      want.push(JSON.parse(r.content[0].text).alert_id);
    }
    const until = Date.now() + 60000;
    const missing = () => want.filter(id => !got.includes(id)).length;
    while (Date.now() < until && missing() > 0) await sleep(200);
    await client.close();
    const unique = [...new Set(got)];
    const sorted = unique.every((id, i) => i === 0 || sequence(id) > sequence(unique[i - 1]));
    if (!wasCut() || missing() || unique.length !== total || !sorted) {
      throw new Error(`cut ${wasCut()}, ${unique.length} of ${total} arrived, ${missing()} missing, ${got.length - unique.length} repeated, in order ${sorted}`);
    }
  });
  server.close();
}

// sequence is the number an alert's id ends in: alerts with rising thresholds
// that are all true already fire in the order in which they were set.
const sequence = id => Number(id.split('-').at(-1));

async function direct() {
  const proxyPort = await freePort();
  const wick = await start({ args: ['--serve', '--trade', '--base-url', `http://localhost:${proxyPort}`] });
  await fiveHundred('push', wick.port, { base: `http://localhost:${proxyPort}`, proxyPort });
  await wick.stop();
}

// nginxConfig is what docs/deploy.md tells people to write, without TLS: this
// runs on loopback.
const nginxConfig = (listen, wick, dir) => `
worker_processes 1; pid ${dir}/nginx.pid; error_log ${dir}/error.log; daemon off;
events {}
http {
  access_log off; client_body_temp_path ${dir}/body; proxy_temp_path ${dir}/proxy;
  fastcgi_temp_path ${dir}/f; uwsgi_temp_path ${dir}/u; scgi_temp_path ${dir}/s;
  server {
    listen 127.0.0.1:${listen};
    location / {
      proxy_pass http://127.0.0.1:${wick};
      proxy_http_version 1.1;
      proxy_set_header Host $http_host;
      proxy_set_header Connection "";
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
      proxy_read_timeout 1h;
    }
  }
}`;

async function throughNginx() {
  if (!existsSync('/usr/sbin/nginx')) {
    await check('push through nginx', 'nginx is installed (apt-get install nginx)', false);
    return;
  }
  const [proxyPort, nginxPort] = [await freePort(), await freePort()];
  const passphrase = 'five hundred at one door';
  const wick = await start({
    args: ['--serve', '--trade', '--base-url', `http://localhost:${proxyPort}`, '--trusted-proxy', '127.0.0.1/32'], env: { WICK_PASSPHRASE: passphrase },
  });
  const dir = scratch();
  writeFileSync(join(dir, 'nginx.conf'), nginxConfig(nginxPort, wick.port, dir));
  const nginx = launch('/usr/sbin/nginx', ['-c', join(dir, 'nginx.conf'), '-p', dir], { stdio: 'ignore' });
  for (let i = 0; i < 50; i++) {
    try { await fetch(`http://127.0.0.1:${nginxPort}/`); break; } catch { await sleep(100); }
  }
  await fiveHundred('push through nginx', nginxPort, { base: `http://localhost:${proxyPort}`, proxyPort, passphrase });
  nginx.kill();
  await wick.stop();
}

export async function push() {
  await direct();
  await throughNginx();
}
