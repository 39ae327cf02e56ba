// The official TypeScript SDK's client: over HTTP with its own OAuth flow, from
// a 401 to tool calls, orders, an alert that arrives as a push, and over stdio.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { NotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { bin, check, scratch, sleep, start } from './lib.mjs';

const AlertTriggered = NotificationSchema.extend({
  method: z.literal('notifications/alert_triggered'),
  params: z.object({ alert_id: z.string(), symbol: z.string() }).passthrough(),
});

// memoryProvider is the SDK's OAuth provider with everything in memory.
export function memoryProvider(redirectUrl = 'http://127.0.0.1:41002/callback') {
  const kept = {};
  return {
    kept, redirectUrl,
    clientMetadata: { client_name: 'e2e sdk', redirect_uris: [redirectUrl], grant_types: ['authorization_code'], response_types: ['code'], token_endpoint_auth_method: 'none' },
    state: () => 'a state & more+',
    clientInformation: () => kept.client, saveClientInformation: v => { kept.client = v; },
    tokens: () => kept.tokens, saveTokens: v => { kept.tokens = v; },
    codeVerifier: () => kept.verifier, saveCodeVerifier: v => { kept.verifier = v; },
    invalidateCredentials: what => { if (what === 'all' || what === 'client') delete kept.client; if (what === 'all' || what === 'tokens') delete kept.tokens; },
    redirectToAuthorization: v => { kept.url = v; },
  };
}

// connect goes through the login as a person would and returns a connected
// client.
export async function connect(url, provider = memoryProvider()) {
  for (;;) {
    const transport = new StreamableHTTPClientTransport(new URL(url), { authProvider: provider });
    const client = new Client({ name: 'e2e', version: '1' });
    client.errors = [];
    client.onerror = e => client.errors.push(e.message);
    try {
      await client.connect(transport);
      return { client, transport, provider };
    } catch (e) {
      if (e.constructor.name !== 'UnauthorizedError' || provider.kept.tried) throw e;
      provider.kept.tried = true;
      const answer = await fetch(provider.kept.url, { redirect: 'manual' });
      const back = new URL(answer.headers.get('location'));
      provider.kept.state = back.searchParams.get('state');
      await transport.finishAuth(back.searchParams.get('code'));
    }
  }
}

const parse = r => JSON.parse(r.content[0].text);
const tool = (client, name, args = {}) => client.callTool({ name, arguments: args });

// everyTool calls what a client without special knowledge would.
async function everyTool(name, client) {
  await check(name, 'tools/list', async () => (await client.listTools()).tools.length === 15);
  await check(name, 'ping', () => client.ping().then(() => true));
  await check(name, 'generate_chart png', async () => {
    const r = await tool(client, 'generate_chart', { symbol: 'BTCUSDT' });
    return r.content[0].type === 'image' && Buffer.from(r.content[0].data, 'base64').subarray(1, 4).toString() === 'PNG';
  });
  await check(name, 'generate_chart summary', async () => parse(await tool(client, 'generate_chart', { symbol: 'BTCUSDT', format: 'summary', bars: 50 })).price.bars === 50);
  await check(name, 'generate_chart series', async () => parse(await tool(client, 'generate_chart', { symbol: 'BTCUSDT', format: 'series', bars: 30 })).bars.length === 30);
  await check(name, 'list_indicators', async () => parse(await tool(client, 'list_indicators')).total > 100);
  await check(name, 'get_indicators', async () => 'rsi' in parse(await tool(client, 'get_indicators', { symbol: 'BTCUSDT', indicators: ['rsi'] })).indicators);
  await check(name, 'get_balance refuses', async () => (await tool(client, 'get_balance')).isError === true);
  await check(name, 'unknown tool is -32602', async () => {
    try { return (await tool(client, 'no_such_tool')).isError; } catch (e) { return e.code === -32602; }
  });
}

async function trading(name, client) {
  await check(name, 'an order fills and makes a position', async () => {
    const order = parse(await tool(client, 'place_order', { symbol: 'BTCUSDT', side: 'buy', type: 'market', quantity: 0.5 }));
    const positions = parse(await tool(client, 'get_positions'));
    return order.status === 'filled' && positions.some(p => p.symbol === 'BTCUSDT');
  });
  await check(name, 'subscribe after connecting, alert arrives as a push', () => pushArrives(client));
}

// pushArrives subscribes, sets an alert that is true already and waits for it.
export async function pushArrives(client) {
  const got = new Promise(done => client.setNotificationHandler(AlertTriggered, n => done(n.params)));
  await tool(client, 'subscribe_notifications');
  const { alert_id } = parse(await tool(client, 'set_alert', { symbol: 'BTCUSDT', condition: { price_above: 0.01 } }));
  const n = await Promise.race([got, sleep(20000)]);
  return n?.alert_id === alert_id;
}

export async function sdk(wick) {
  for (const path of ['/mcp', '', '/message']) {
    const name = `TypeScript SDK 1.32.2 ${path || '/'}`;
    await check(name, 'discovery, registration, login, connect', async () => {
      const { client, transport, provider } = await connect(wick.base + path);
      const ok = transport.protocolVersion === '2025-03-26' && provider.kept.state === 'a state & more+' && provider.kept.tokens.expires_in === 604800;
      if (path === '/mcp') {
        await everyTool(name, client);
        await trading(name, client);
      }
      await check(name, 'no transport errors', client.errors.length === 0, client.errors.join('; '));
      await client.close();
      return ok;
    });
  }
  const name = 'TypeScript SDK 1.32.2 stdio';
  await check(name, 'connect', async () => {
    const client = new Client({ name: 'e2e', version: '1' });
    client.errors = [];
    client.onerror = e => client.errors.push(e.message);
    await client.connect(new StdioClientTransport({ command: bin, args: ['--mcp', '--trade'], env: { HOME: scratch(), PATH: process.env.PATH }, stderr: 'ignore' }));
    await everyTool(name, client);
    await trading(name, client);
    await check(name, 'only JSON on standard output', client.errors.length === 0, client.errors.join('; '));
    await client.close();
  });
}

// restart: the server forgets its clients. The SDK asks its user to log in
// again with the old registration, and the page says what to do; a client that
// forgets it connects anew.
export async function restart() {
  const name = 'TypeScript SDK 1.32.2, restart';
  let wick = await start();
  const provider = memoryProvider();
  const { client } = await connect(`${wick.base}/mcp`, provider);
  await client.close();
  await wick.stop();
  wick = await start({ port: wick.port, home: wick.home });
  provider.kept.tried = true; // the login below is the person's, not the script's
  await check(name, 'the old registration leads to a page that says what to do', async () => {
    await connect(`${wick.base}/mcp`, provider).catch(() => {});
    const page = await fetch(provider.kept.url, { redirect: 'manual', headers: { accept: 'text/html' } });
    return page.status === 400 && /add it again/.test(await page.text());
  });
  await check(name, 'added again, it connects', async () => {
    const { client } = await connect(`${wick.base}/mcp`);
    const { tools } = await client.listTools();
    await client.close();
    return tools.length === 15;
  });
  await wick.stop();
}
