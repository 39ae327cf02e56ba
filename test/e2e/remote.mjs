// mcp-remote, which many desktop apps use to reach a server over stdio: the
// SDK's stdio client drives it, as such an app does.
import { join } from 'node:path';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { browser } from './browser.mjs';
import { endsWithUs, here, node22, scratch, sleep, until } from './lib.mjs';
import { http, newClient, sessionOf, versionOf } from './sdk.mjs';

const program = join(here, 'node_modules/.bin/mcp-remote');

// begin starts mcp-remote; connected settles when it is through.
function begin(url, home, surf) {
  const transport = new StdioClientTransport({
    command: node22, args: [program, url], env: { ...surf.env, HOME: home, MCP_REMOTE_CONFIG_DIR: home }, stderr: 'pipe',
  });
  let said = '';
  transport.stderr.on('data', d => { said += d; });
  const client = newClient();
  const connected = client.connect(transport).catch(e => { throw new Error(`${e.message}\n${said}`); });
  const { pid } = transport;
  endsWithUs(() => { try { process.kill(pid); } catch { /* it has ended */ } });
  return { client, connected, said: () => said, surf, home, url };
}

// ready waits for the second stream. mcp-remote opens two: one of a trial
// connection, which it keeps and does not read (testClient in
// connectToRemoteServer), and then its own. The server pushes to the newest;
// before the second is there, to the one that is not read.
async function ready(started) {
  await started.connected;
  await sleep(2000);
  started.surf.wait(); // until recover or restarted
  return Object.assign(sessionOf(started.client, () => signIn(started)), started);
}

const connect = (url, home = scratch(), surf = browser()) => ready(begin(url, home, surf));

// signIn: the token has expired, both streams have ended, and mcp-remote opens
// the browser. A person takes a while there; a call made meanwhile makes the
// program listen for the answer, waits for it, and goes through. (Now and then
// it fails: the two streams ask for the login at once, each with a verifier of
// its own, and the wrong one is kept, since saveCodeVerifier looks, awaits, and
// then writes.) Either way the streams have given up by then, after two
// attempts, and pushes come again when the program is started again.
async function signIn({ client, said, surf, url, home }) {
  const call = client.callTool({ name: 'get_positions', arguments: {} }, undefined, { timeout: 20000 }).catch(() => {});
  await until('the callback to be listened for', () => said().split('OAuth callback server running').length > 2);
  surf.go();
  await call;
  await client.close();
  return connect(url, home, surf);
}

export const remote = {
  name: `mcp-remote ${versionOf('mcp-remote')}`, client: 'MCP CLI Proxy', connect,
  na: {
    '/': 'it takes the health document at / for a server without login, opens the browser before it listens for the answer, and ends; /mcp is the address to give it',
    '/sse': http.na['/sse'],
  },
  // The one that runs opens the browser with its old registration, and the page
  // says: start it again, up to twice. Started again it registers anew, but
  // takes its own second attempt for somebody else's and opens no browser
  // (ownsPendingFlow compares the challenge of the attempt that failed); the
  // start after that logs in.
  async restarted(session) {
    const { client, home, surf, url } = session;
    surf.go();
    client.callTool({ name: 'get_positions', arguments: {} }).catch(() => {});
    await until('a page that says what to do', () => /mcp-remote, start the app again instead, up to twice/.test(surf.page()));
    await client.close();
    for (let starts = 1; ; starts++) {
      const again = begin(url, home, surf);
      const through = again.connected.then(() => true);
      if (await Promise.race([through, sleep(starts === 1 ? 10000 : 30000)])) return ready(again);
      through.catch(() => {}); // closing it ends the attempt
      await again.client.close();
      if (starts === 2) throw new Error(again.said());
    }
  },
};
