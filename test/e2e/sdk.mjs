// The official TypeScript SDK's client, over HTTP with its own OAuth flow and
// over stdio.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { NotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod/v4'; // of which the SDK's schemas are, whichever version of zod the others bring
import { bin, endsWithUs, here, scratch, visit } from './lib.mjs';
import { check } from './table.mjs';

// versionOf is the version of a package that package.json pins.
export const versionOf = name => JSON.parse(readFileSync(join(here, 'package.json'), 'utf8')).dependencies[name];
const sdk = `TypeScript SDK ${versionOf('@modelcontextprotocol/sdk')}`;

const AlertTriggered = NotificationSchema.extend({
  method: z.literal('notifications/alert_triggered'),
  params: z.object({ alert_id: z.string(), symbol: z.string() }).passthrough(),
});

// memoryProvider is the SDK's OAuth provider with everything in memory.
export function memoryProvider(redirectUrl = 'http://127.0.0.1:41002/callback') {
  const kept = {};
  return {
    kept, redirectUrl,
    clientMetadata: { client_name: 'typescript sdk', redirect_uris: [redirectUrl], grant_types: ['authorization_code'], response_types: ['code'], token_endpoint_auth_method: 'none' },
    state: () => 'a state & more+',
    clientInformation: () => kept.client, saveClientInformation: v => { kept.client = v; },
    tokens: () => kept.tokens, saveTokens: v => { kept.tokens = v; },
    codeVerifier: () => kept.verifier, saveCodeVerifier: v => { kept.verifier = v; },
    invalidateCredentials: what => { if (what === 'all' || what === 'client') delete kept.client; if (what === 'all' || what === 'tokens') delete kept.tokens; },
    redirectToAuthorization: v => { kept.url = v; },
  };
}

// newClient collects what goes wrong and what is pushed.
export function newClient() {
  const client = new Client({ name: 'e2e', version: '1' });
  client.errors = [];
  client.onerror = e => client.errors.push(e.message);
  client.pushes = [];
  client.setNotificationHandler(AlertTriggered, n => { client.pushes.push(n.params.alert_id); });
  return client;
}

// sessionOf is a session of walk.mjs over an SDK client.
export function sessionOf(client, recover) {
  return {
    client, recover,
    tools: async () => (await client.listTools()).tools.length,
    call: (name, args) => client.callTool({ name, arguments: args }),
    pushed: () => client.pushes,
    close: () => client.close(),
  };
}

// connect goes through the login as a person would. A host keeps the provider
// and, when the token has expired, connects anew with it.
export async function connect(url, provider = memoryProvider()) {
  for (let logins = 0; ; logins++) {
    const transport = new StreamableHTTPClientTransport(new URL(url), { authProvider: provider });
    const client = newClient();
    try {
      await client.connect(transport);
      const session = sessionOf(client, async () => { await client.close(); return connect(url, provider); });
      return Object.assign(session, { transport, provider });
    } catch (e) {
      if (e.constructor.name !== 'UnauthorizedError' || logins > 0) throw e;
      const back = await visit(provider.kept.url, provider.passphrase);
      provider.kept.state = back.searchParams.get('state');
      await transport.finishAuth(back.searchParams.get('code'));
    }
  }
}

export const http = {
  name: `${sdk}, HTTP`, client: 'typescript sdk', connect,
  na: { '/sse': 'its SSE transport waits for the "endpoint" event of MCP 2024-11-05, which the specification rules out; GET /sse is the stream, under its older name' },
  // The SDK sends its user to the login with the registration it kept. The page
  // says what to do; the person does it, and a new provider stands for that.
  async restarted(session, wick) {
    const said = await session.recover().then(() => '', e => e.message);
    if (!/forgets all apps when it restarts.*Remove this server from the app and add it again/.test(said)) throw new Error(`the page says: ${said}`);
    return connect(`${wick.base}/mcp`);
  },
};

const noLogin = 'over stdio there is no address, no login and no token: whoever starts the program owns it';
export const stdio = {
  name: `${sdk}, stdio`, client: '',
  na: { '/mcp': noLogin, '/': noLogin, '/sse': noLogin, register: noLogin, login: noLogin, expiry: noLogin, restart: 'over stdio the client starts the server and they end together' },
  async connect() {
    const client = newClient();
    const transport = new StdioClientTransport({ command: bin, args: ['--mcp', '--trade'], env: { HOME: scratch(), PATH: process.env.PATH }, stderr: 'ignore' });
    await client.connect(transport);
    const { pid } = transport;
    endsWithUs(() => { try { process.kill(pid); } catch { /* it has ended */ } });
    return sessionOf(client);
  },
};

// details are the checks of the SDK's clients that are no steps of the table.
export async function details(wick) {
  await check(http.name, 'protocol version, state and lifetime as they should be', async () => {
    const { transport, provider, client } = await connect(`${wick.base}/message`);
    await client.close();
    return transport.protocolVersion === '2025-03-26' && provider.kept.state === 'a state & more+' && provider.kept.tokens.expires_in === 604800;
  });
  for (const driver of [http, stdio]) {
    const { client } = await driver.connect(`${wick.base}/mcp`);
    await check(driver.name, 'ping', () => client.ping().then(() => true));
    await check(driver.name, 'get_balance refuses', async () => (await client.callTool({ name: 'get_balance', arguments: {} })).isError === true);
    await check(driver.name, 'an unknown tool is -32602', () => client.callTool({ name: 'no_such_tool', arguments: {} }).then(() => false, e => e.code === -32602));
    await check(driver.name, 'no errors on the transport', () => { if (client.errors.length) throw new Error(client.errors.join('; ')); });
    await client.close();
  }
}
