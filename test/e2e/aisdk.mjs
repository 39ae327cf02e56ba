// The AI SDK's client with its own OAuth flow, without a model: its tools are
// called as an agent of the SDK calls them.
import { auth, createMCPClient, UnauthorizedError } from '@ai-sdk/mcp';
import { eraIn, start, toolCount, visit } from './lib.mjs';
import { memoryProvider, versionOf } from './sdk.mjs';
import { cell, check, notApplicable } from './table.mjs';

const name = `AI SDK's MCP client ${versionOf('@ai-sdk/mcp')}`;

async function connect(url) {
  const provider = memoryProvider();
  const open = () => createMCPClient({ transport: { type: 'http', url, authProvider: provider } });
  const login = async e => {
    if (!(e instanceof UnauthorizedError)) throw e;
    const back = await visit(provider.kept.url);
    await auth(provider, { serverUrl: url, authorizationCode: back.searchParams.get('code'), callbackState: back.searchParams.get('state') });
    return open();
  };
  return open().catch(login);
}

export async function aiSDK() {
  const wick = await start();
  let client;
  await cell(name, 'login', async () => {
    client = await connect(`${wick.base}/mcp`);
    return wick.log().includes('msg="token issued"');
  });
  if (client) {
    await check(name, 'speaks 2025-03-26', () => eraIn(wick.log()) === '2025-03-26');
    const tools = await client.tools();
    await cell(name, 'list', () => Object.keys(tools).length === toolCount);
    await cell(name, 'chart', async () => (await tools.generate_chart.execute({ bars: 60 }, { toolCallId: '1', messages: [] })).content[0].mimeType === 'image/png');
    await cell(name, 'resource', async () => (await client.listResources()).resources.some(r => r.uri === 'wick://alerts')
      && /^# How to read wick/.test((await client.readResource({ uri: 'wick://guide' })).contents[0].text));
    await cell(name, 'prompt', async () => (await client.experimental_getPrompt({ name: 'chart', arguments: { symbol: 'BTCUSDT' } })).messages[0].content.text.includes('BTCUSDT'));
    notApplicable(name, 'push', 'it has no way to subscribe and hands on no notification');
    await client.close();
  }
  await wick.stop();
}
