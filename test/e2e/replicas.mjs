// Three replicas behind HAProxy: a client of the official SDK stays logged in and
// gets 500 notifications, all and in order, while the replicas are restarted one by
// one under it. Needs etcd and HAProxy; scripts/cluster starts everything.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bin, here, launch, scratch, sleep, until } from './lib.mjs';
import { connect } from './sdk.mjs';
import { check } from './table.mjs';

const total = 500;
const base = 'http://localhost:9340';

const ready = async port => {
  try {
    return (await (await fetch(`http://127.0.0.1:${port}/readyz`)).json());
  } catch {
    return {};
  }
};

// settled waits until all replicas answer and one leads.
const settled = () => until('one leader and two followers', async () => {
  const roles = (await Promise.all([9341, 9342, 9343].map(ready))).map(r => r.role).sort();
  return roles.join() === 'follower,follower,leader';
}, 60);

// setAlert repeats a call that met a restart: the client's own id makes it one alert.
async function setAlert(client, i) {
  for (let tries = 0; ; tries++) {
    try {
      const r = await client.callTool({ name: 'set_alert', arguments: { symbol: 'BTCUSDT', condition: { price_above: (i + 1) / 10000 }, client_alert_id: `push-${i}` } });
      if (!r.isError) return JSON.parse(r.content[0].text).alert_id;
      if (tries > 100) throw new Error(r.content[0].text);
    } catch (e) {
      if (tries > 100) throw e;
    }
    await sleep(100);
  }
}

export async function replicas() {
  const dir = scratch();
  const cluster = launch(join(here, '..', '..', 'scripts', 'cluster'), [bin, dir], { stdio: 'ignore' });
  await settled();
  await sleep(2000); // HAProxy looks every half second
  await check('replicas', `${total} notifications and no new login over restarts of every replica, all and in order`, async () => {
    const { client, provider } = await connect(`${base}/mcp`);
    const token = provider?.kept.tokens.access_token;
    await client.callTool({ name: 'subscribe_notifications', arguments: {} });
    const restarts = (async () => {
      for (const i of [1, 2, 3, 1, 2, 3]) {
        process.kill(Number(readFileSync(join(dir, `wick${i}.pid`), 'utf8')), 'SIGTERM');
        await sleep(3000);
        await settled();
      }
    })();
    const want = [];
    let over = false;
    restarts.then(() => { over = true; }, () => { over = true; });
    for (let i = 0; i < total; i++) {
      want.push(await setAlert(client, i));
      if (!over) await sleep(40);
    }
    await restarts;
    const missing = () => want.filter(id => !client.pushes.includes(id)).length;
    for (const end = Date.now() + 60000; Date.now() < end && missing() > 0;) await sleep(200);
    await client.close();
    const unique = [...new Set(client.pushes)];
    const sequence = id => Number(id.split('-').at(-1));
    const sorted = unique.every((id, i) => i === 0 || sequence(id) > sequence(unique[i - 1]));
    const same = token === provider?.kept.tokens.access_token;
    if (missing() || unique.length !== total || !sorted || !same) {
      throw new Error(`${unique.length} of ${total} arrived, ${missing()} missing, ${client.pushes.length - unique.length} repeated, in order ${sorted}, the same token ${same}`);
    }
  });
  cluster.kill('SIGTERM');
  await new Promise(done => cluster.on('exit', done));
}
