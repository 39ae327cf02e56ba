// The TypeScript client 2.4.0 in each of its modes: the older era, whichever the
// server has, and the newer one alone. Login, list, chart, resource, prompt,
// completion, push of a changed resource, and an order that a person approves.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { bin, login, scratch, start, toolCount, until } from './lib.mjs';
import { versionOf } from './sdk.mjs';
import { check } from './table.mjs';

const modes = {
  legacy: { versionNegotiation: { mode: 'legacy' } },
  auto: { versionNegotiation: { mode: 'auto' } },
  pinned: { versionNegotiation: { mode: { pin: '2026-07-28' } } },
};

// walk takes the steps with a connected client.
async function walk(name, client, older) {
  const updated = [];
  client.setNotificationHandler('notifications/resources/updated', n => { updated.push(n.params.uri); });
  await check(name, 'list', async () => (await client.listTools()).tools.length === toolCount);
  await check(name, 'chart', async () => (await client.callTool({ name: 'generate_chart', arguments: { bars: 60 } })).content[0].mimeType === 'image/png');
  await check(name, 'an error of a tool', async () => (await client.callTool({ name: 'get_balance', arguments: {} })).isError === true);
  await check(name, 'resources', async () => {
    const { resources } = await client.listResources();
    const { resourceTemplates } = await client.listResourceTemplates();
    const guide = await client.readResource({ uri: 'wick://guide' });
    const chart = await client.readResource({ uri: 'wick://chart/BTCUSDT/1h' });
    return resources.filter(r => r.uri.startsWith('ui:')).length === 3 && resources.length === 8 && resourceTemplates.length === 3 && /^# How to read wick/.test(guide.contents[0].text) && chart.contents[0].blob.startsWith('iVBOR');
  });
  await check(name, 'an unknown resource', () => client.readResource({ uri: 'wick://none' }).then(() => false, e => e.code === (older ? -32002 : -32602)));
  await check(name, 'prompts', async () => {
    const { prompts } = await client.listPrompts();
    const { messages } = await client.getPrompt({ name: 'plan-trade', arguments: { symbol: 'ETHUSDT' } });
    return prompts.length === 6 && messages[0].content.text.includes('ETHUSDT');
  });
  await check(name, 'completion', async () => (await client.complete({ ref: { type: 'ref/prompt', name: 'chart' }, argument: { name: 'symbol', value: 'BT' } })).completion.values.includes('BTCUSDT'));
  await check(name, 'push of a changed resource', async () => {
    if (older) await client.subscribeResource({ uri: 'wick://alerts' });
    else await client.listen({ resourceSubscriptions: ['wick://alerts'] });
    await client.callTool({ name: 'set_alert', arguments: { symbol: 'BTCUSDT', condition: { price_above: 1e9 } } });
    await until('the push', () => updated.includes('wick://alerts'));
  });
}

// approval places an order above the sum: the client asks its user, here a
// function, and repeats the call.
async function approval(name, client) {
  let asked = '', answer = 'decline';
  client.setRequestHandler('elicitation/create', r => { asked = r.params.message; return answer === 'accept' ? { action: 'accept', content: { approve: true } } : { action: 'decline' }; });
  const order = id => client.callTool({ name: 'place_order', arguments: { symbol: 'BTCUSDT', side: 'buy', type: 'market', quantity: 0.02, client_order_id: id } });
  await check(name, 'an order that the person declines', async () => (await order(`no-${Date.now()}`)).isError === true && /buy 0\.02 BTCUSDT/.test(asked) && /paper/.test(asked));
  answer = 'accept';
  await check(name, 'an order that the person approves', async () => !(await order(`yes-${Date.now()}`)).isError);
}

export async function eras() {
  const wick = await start({ args: ['--serve', '--trade', '--confirm-above', '0', '--approve-in-client'] });
  const { token } = await login(wick.base, { name: 'eras' });
  for (const [mode, options] of Object.entries(modes)) {
    const older = mode === 'legacy';
    const capabilities = { capabilities: { elicitation: { form: {} } } };
    for (const way of ['HTTP', 'stdio']) {
      const name = `TypeScript client ${versionOf('@modelcontextprotocol/client')}, ${mode}, ${way}`;
      const client = new Client({ name: 'eras', version: '1' }, { ...capabilities, ...options });
      const transport = way === 'HTTP'
        ? new StreamableHTTPClientTransport(new URL(`${wick.base}/mcp`), { requestInit: { headers: { authorization: `Bearer ${token}` } } })
        : new StdioClientTransport({ command: bin, args: ['--mcp', '--trade', '--confirm-above', '0', '--approve-in-client'], env: { HOME: scratch(), PATH: process.env.PATH }, stderr: 'ignore' });
      if (!await check(name, 'connect', () => client.connect(transport).then(() => true))) continue;
      await walk(name, client, older);
      if (!older) await approval(name, client);
      await client.close();
    }
  }
  await wick.stop();
}
