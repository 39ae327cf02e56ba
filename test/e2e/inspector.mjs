// MCP Inspector's command line: every call is a program of its own that finds
// the login of the last one in its home.
import { join } from 'node:path';
import { browser } from './browser.mjs';
import { bin, freePort, here, node22, output, scratch, toolCount, until } from './lib.mjs';
import { http, versionOf } from './sdk.mjs';
import { check } from './table.mjs';

const program = join(here, 'node_modules/.bin/mcp-inspector');
const name = `Inspector ${versionOf('@modelcontextprotocol/inspector')} CLI`;

async function connect(url, home = scratch(), surf = browser()) {
  const callback = `http://127.0.0.1:${await freePort()}/oauth/callback`;
  const inspect = async (args, options) => {
    const env = { ...surf.env, HOME: home, MCP_AUTO_OPEN_ENABLED: 'true', MCP_INSPECTOR_SECRET_STORE: 'file' };
    const r = await output(node22, [program, '--cli', url, '--transport', 'http', '--callback-url', callback, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'], ...options });
    if (r.code !== 0 && r.code !== 5) throw new Error(`exit ${r.code}: ${r.err.slice(-500)}`);
    return JSON.parse(r.out);
  };
  const call = (tool, args, ...more) => inspect(['--method', 'tools/call', '--tool-name', tool, '--tool-args-json', JSON.stringify(args), ...more]);
  const session = {
    surf, inspect, call,
    tools: async () => (await inspect(['--method', 'tools/list', '--strict'])).tools.length, // its check of schemas included
    relogin: async () => { await call('get_positions', {}, '--relogin'); return session; },
    recover: () => session, // the next call logs in by itself
    close: () => {},
  };
  await session.tools();
  return session;
}

export const inspector = {
  name, client: 'MCP Inspector', connect,
  na: {
    '/sse': http.na['/sse'],
    push: 'a call is a process that ends with the answer; alert shows what it can: get_notifications',
  },
  // It sends the person to the login with the registration it kept, where the
  // page says what to do; --relogin is how this client is told to forget.
  async restarted({ inspect, relogin, surf }) {
    const before = surf.visits();
    let waiting;
    const ended = inspect(['--method', 'tools/call', '--tool-name', 'get_positions'], { onStart: child => { waiting = child; } }).catch(() => {});
    await until('a page that says what to do', () => surf.visits() > before && /Remove this server from the app and add it again/.test(surf.page()), 40);
    waiting.kill();
    await ended;
    return relogin();
  },
};

// details are the checks that are no steps of the table.
export async function details() {
  await check(name, 'over stdio', async () => {
    const r = await output(node22, [program, '--cli', '--method', 'tools/list', '--transport', 'stdio', bin, '--mcp'], { env: { PATH: process.env.PATH, HOME: scratch() } });
    if (r.code !== 0) throw new Error(r.text);
    return JSON.parse(r.out).tools.length === toolCount;
  });
  for (const [tool, uri] of [['generate_chart', 'chart'], ['get_positions', 'positions'], ['list_alerts', 'alerts']]) {
    await check(name, `--app-info of ${tool}`, async () => {
      const r = await output(node22, [program, '--cli', '--method', 'tools/call', '--tool-name', tool, '--app-info', '--transport', 'stdio', bin, '--mcp'], { env: { PATH: process.env.PATH, HOME: scratch() } });
      if (r.code !== 0) throw new Error(r.text);
      const said = JSON.parse(r.out);
      return said.hasApp && said.resourceUri === `ui://wick/${uri}.html` && said.csp.connectDomains.length === 0;
    });
  }
}
