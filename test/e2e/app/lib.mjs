// What all checks of the page share: a browser, a line per check, logins.
import { mkdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { register } from '../browser/wick.mjs';

export const binary = process.env.WICK_BIN ?? fileURLToPath(new URL('../../../wick', import.meta.url));
export const pictures = fileURLToPath(new URL('../../../dist/app/', import.meta.url));
mkdirSync(pictures, { recursive: true });

export const passphrase = 'correct horse battery staple';

export const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});

export const count = { passed: 0, failed: 0 };

// check runs one test in a browser context of its own, unless another part of its name
// was asked for. What the page logs as an error,
// and every request that leaves for another host, fails it.
export async function check(name, options, test) {
  if (!name.includes(process.argv[3] ?? '')) return;
  const context = await browser.newContext({ timezoneId: 'UTC', ...options });
  context.setDefaultTimeout(20_000);
  const wrong = [];
  context.on('weberror', e => wrong.push(String(e.error().stack)));
  context.on('console', m => /Content Security Policy|Refused to|violates|TrustedHTML/i.test(m.text()) && wrong.push(m.text()));
  try {
    await test(await context.newPage(), context);
    if (wrong.length) throw new Error(wrong.join('\n'));
    count.passed++;
    console.log(`ok    ${name}`);
  } catch (err) {
    count.failed++;
    console.log(`FAIL  ${name}\n${err.stack}`);
  } finally {
    await context.close();
  }
}

// logIn opens the page and logs in as the owner.
export async function logIn(page, wick) {
  await page.goto(wick.base + '/app');
  await page.locator('#login button').click();
  await page.waitForURL(/\/authorize/);
  await page.fill('#passphrase', passphrase);
  await page.click('button.allow');
  await page.waitForURL(u => u.pathname === '/app');
  await page.waitForSelector('#chart[data-state=ready]');
}

// tab brings a panel below the chart to the front.
export const tab = (page, title) => page.getByRole('tab', { name: new RegExp(`^${title}( \\d+)?$`) }).click();

// sayYes presses a button that opens the page of an order, and says yes there with the passphrase.
export async function sayYes(page, button) {
  const [asked] = await Promise.all([page.context().waitForEvent('page'), button.click()]);
  await asked.fill('#passphrase', passphrase);
  await asked.click('button.allow');
  await asked.getByRole('heading', { name: 'Approved' }).waitFor();
  await asked.close();
}

// client registers another client, logs it in with the passphrase and returns how to ask with it.
export async function client(wick, name) {
  const c = await register(wick.base, name, 'http://127.0.0.1:41001/callback');
  const page = await fetch(c.address, { headers: { accept: 'text/html' } });
  const cookie = page.headers.getSetCookie().map(text => text.split(';')[0]).join('; ');
  const asked = (await page.text()).match(/name="request" value="([^"]*)"/)[1];
  const r = await fetch(new URL('/authorize', c.address), {
    method: 'POST', redirect: 'manual', headers: { accept: 'text/html', cookie, origin: new URL(c.address).origin },
    body: new URLSearchParams({ request: asked, grant: 'trade', passphrase, decision: 'allow' }),
  });
  const { access_token } = await c.exchange(r.headers.get('location'));
  const request = async (method, params) => {
    const reply = await fetch(wick.base + '/mcp', {
      method: 'POST', headers: { authorization: 'Bearer ' + access_token, 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    return { status: reply.status, ...(await reply.json()) };
  };
  return { token: access_token, request, call: (name, args) => request('tools/call', { name, arguments: args }) };
}

const axe = readFileSync(new URL('./node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');

// violations returns what axe-core finds in a page or a frame.
export async function violations(frame) {
  await frame.evaluate(axe);
  return frame.evaluate(async () => {
    const { violations } = await window.axe.run(document, { resultTypes: ['violations'] });
    return violations.map(v => `${v.id}: ${v.nodes.map(n => n.target.join(' ')).slice(0, 4).join(', ')}`);
  });
}

// until waits for a condition that a page or a server reaches by itself.
export async function until(what, reached, milliseconds = 15_000) {
  for (const end = Date.now() + milliseconds; Date.now() < end;) {
    if (await reached()) return;
    await new Promise(resolve => setTimeout(resolve, 100));
  }
  throw new Error(`${what}: not within ${milliseconds} ms`);
}
