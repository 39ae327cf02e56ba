// The consent page in a real Chromium: what the owner sees and clicks, and that
// the page's own policy lets the browser go where it must. Ends in
// "N passed, N failed"; the exit status says the same. Pictures go to dist/browser.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { hostile as hostileClients } from './hostile.mjs';
import { register, start } from './wick.mjs';

const binary = process.env.WICK_BIN ?? fileURLToPath(new URL('../../../wick', import.meta.url));
const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
const pictures = fileURLToPath(new URL('../../../dist/browser/', import.meta.url));
mkdirSync(pictures, { recursive: true });

const passphrase = 'correct horse battery staple';
const https = 'https://client.example/callback';
const app = 'cursor://anysphere.cursor-mcp/oauth/callback';
const hostile = '</bdi><script>document.title="owned"</script><img src=x onerror="document.title=1">"\'&amp;';

const browser = await chromium.launch({
  executablePath,
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
    '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});
const servers = {
  guarded: await start(binary, { passphrase, trade: true }),
  open: await start(binary, { trade: false }),
  approving: await start(binary, { passphrase, trade: true, extra: ['--confirm-above', '0'] }),
};

let passed = 0;
let failed = 0;

// check runs one test in a browser context of its own.
async function check(name, options, test) {
  if (process.env.ONLY && !name.includes(process.env.ONLY)) return;
  const context = await browser.newContext(options);
  try {
    await test(await visit(context));
    passed++;
    console.log(`ok    ${name}`);
  } catch (err) {
    failed++;
    console.log(`FAIL  ${name}\n${err.stack}`);
  } finally {
    await context.close();
  }
}

// visit opens a page whose requests to https addresses, which are the clients',
// are answered here. The raw protocol is used because it pauses redirected requests too,
// which is all that a callback ever gets. What the browser blocks ends up in
// page.blocked, the callbacks it asks for in page.callbacks.
async function visit(context) {
  const page = await context.newPage();
  page.callbacks = [];
  page.blocked = [];
  page.posts = [];
  page.onward = null; // where the callback sends the browser next
  page.policy = null; // put in the place of the page's own policy
  page.on('console', m => {
    if (/Content Security Policy|Refused|violates/.test(m.text())) page.blocked.push(m.text());
  });
  page.on('response', r => {
    if (r.request().method() === 'POST') page.posts.push({ status: r.status(), location: r.headers().location ?? '' });
  });
  const cdp = await context.newCDPSession(page);
  await cdp.send('Fetch.enable', {
    patterns: [{ urlPattern: 'https://*' }, { urlPattern: '*/authorize*', requestStage: 'Response' }],
  });
  cdp.on('Fetch.requestPaused', e => answer(page, cdp, e).catch(() => {})); // a closed page takes its requests along
  return page;
}

async function answer(page, cdp, { requestId, request, responseHeaders, responseStatusCode }) {
  if (!request.url.startsWith('https://')) {
    if (!page.policy || responseStatusCode >= 300) return cdp.send('Fetch.continueResponse', { requestId });
    const headers = responseHeaders.filter(h => h.name.toLowerCase() !== 'content-security-policy');
    headers.push({ name: 'Content-Security-Policy', value: page.policy });
    const { body } = await cdp.send('Fetch.getResponseBody', { requestId }); // base64
    return cdp.send('Fetch.fulfillRequest', { requestId, responseCode: responseStatusCode, responseHeaders: headers, body });
  }
  page.callbacks.push(request);
  const onward = page.onward ? [{ name: 'Location', value: page.onward }] : [];
  return cdp.send('Fetch.fulfillRequest', {
    requestId,
    responseCode: page.onward ? 302 : 200,
    responseHeaders: [{ name: 'Content-Type', value: 'text/html' }, ...onward],
    body: Buffer.from('<title>connected</title>').toString('base64'),
  });
}

// until waits for a condition that the browser brings about.
async function until(what, condition) {
  for (let i = 0; i < 100; i++) {
    if (condition()) return;
    await new Promise(resolve => setTimeout(resolve, 100));
  }
  assert.fail(`waited in vain for ${what}`);
}

const allow = page => page.getByRole('button', { name: 'Allow' }).click({ noWaitAfter: true });

await check('allow with the passphrase leads to the https callback and a token', {}, async page => {
  const client = await register(servers.guarded.base, 'Chart Friend', https);
  await page.goto(client.address);
  await page.getByRole('radio', { name: /Charts and trading/ }).check();
  await page.getByLabel('passphrase').fill(passphrase);
  await allow(page);
  await page.waitForURL(/^https:\/\/client\.example/);
  const back = new URL(page.url());
  assert.equal(back.searchParams.get('state'), 'a b&c=d');
  assert.equal(back.searchParams.get('iss'), servers.guarded.base);
  assert.equal(page.callbacks[0].method, 'GET', 'the form must not be posted on to the client');
  assert.equal(page.callbacks[0].headers.Referer, undefined);
  const token = await client.exchange(page.url());
  assert.equal(token.status, 200);
  assert.equal(token.scope, 'charts trade');
  assert.deepEqual(page.blocked, []);
});

// orderWith places an order as a program without forms, and returns what the
// tool says.
async function orderWith(token, quantity) {
  const r = await fetch(`${servers.approving.base}/mcp`, {
    method: 'POST', headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'place_order', arguments: { symbol: 'BTCUSDT', side: 'buy', type: 'market', quantity } } }),
  });
  return (await r.json()).result;
}

await check('an order above the sum: the owner approves it on the page, once', {}, async page => {
  const client = await register(servers.approving.base, 'Order Friend', https);
  await page.goto(client.address);
  await page.getByRole('radio', { name: /Charts and trading/ }).check();
  await page.getByLabel('passphrase').fill(passphrase);
  await allow(page);
  await page.waitForURL(/^https:\/\/client\.example/);
  const { access_token } = await client.exchange(page.url());
  const refused = await orderWith(access_token, 0.5);
  assert.ok(refused.isError);
  const link = /http:\/\/localhost:\d+\/approve\?id=\w+/.exec(refused.content[0].text)[0];
  await page.goto(link);
  assert.match(await page.locator('main').innerText(), /buy 0\.5 BTCUSDT[^]*paper[^]*position after: 0\.5/);
  await page.screenshot({ path: `${pictures}approve.png`, fullPage: true });
  await page.getByLabel('passphrase').fill('a wrong guess');
  await page.getByRole('button', { name: 'Place it' }).click();
  await page.getByRole('alert').waitFor();
  assert.ok((await orderWith(access_token, 0.5)).isError, 'a wrong passphrase approved it');
  const again = /http:\/\/localhost:\d+\/approve\?id=\w+/.exec((await orderWith(access_token, 0.5)).content[0].text)[0];
  await page.goto(again);
  await page.getByLabel('passphrase').fill(passphrase);
  await page.getByRole('button', { name: 'Place it' }).click();
  await page.getByRole('heading', { name: 'Approved' }).waitFor();
  assert.ok((await orderWith(access_token, 0.6)).isError, 'another size passed');
  assert.equal(JSON.parse((await orderWith(access_token, 0.5)).content[0].text).status, 'filled');
  assert.ok((await orderWith(access_token, 0.5)).isError, 'it passed twice');
  assert.deepEqual(page.blocked, []);
});

await check('the keyboard alone: passphrase, Enter', {}, async page => {
  const client = await register(servers.guarded.base, 'Chart Friend', https);
  await page.goto(client.address);
  await page.keyboard.type(passphrase); // the field has the focus
  await page.keyboard.press('Enter');
  await page.waitForURL(/^https:\/\/client\.example/);
  assert.equal((await client.exchange(page.url())).scope, 'charts');
});

await check('deny of an approved client needs no passphrase and goes back with access_denied', {}, async page => {
  const client = await register(servers.guarded.base, 'Chart Friend', https);
  await page.goto(client.address);
  await page.getByRole('button', { name: 'Deny' }).click({ noWaitAfter: true });
  await page.waitForURL(/^https:\/\/client\.example/);
  const back = new URL(page.url()).searchParams;
  assert.equal(back.get('error'), 'access_denied');
  assert.equal(back.get('state'), 'a b&c=d');
  assert.equal(back.get('code'), null);
});

await check('deny of a client that was never approved stays on the page, with a link', {}, async page => {
  const client = await register(servers.guarded.base, 'Never Seen', https);
  await page.goto(client.address);
  await page.getByRole('button', { name: 'Deny' }).click();
  await page.getByRole('heading', { name: 'Access denied' }).waitFor();
  assert.equal(page.callbacks.length, 0);
  await page.screenshot({ path: `${pictures}denied.png` });
  await page.getByRole('link', { name: 'client.example' }).click({ noWaitAfter: true });
  await page.waitForURL(/^https:\/\/client\.example\/callback\?error=access_denied/);
  assert.equal(page.callbacks[0].headers.Referer, undefined);
});

await check('a page on another local port gets the consent page and no code', {}, async page => {
  const client = await register(servers.open.base, 'Local', 'http://127.0.0.1:1/callback');
  const other = createServer((_, reply) => {
    reply.setHeader('Content-Type', 'text/html');
    reply.end(`<meta charset="utf-8"><script>location = ${JSON.stringify(client.address)}</script>`);
  }).listen(0, '127.0.0.1');
  await new Promise(resolve => other.once('listening', resolve));
  await page.goto(`http://localhost:${other.address().port}/`);
  await page.getByRole('button', { name: 'Allow' }).waitFor();
  other.close();
});

await check('the form works after a link from another site, and a form of another page does not', {}, async page => {
  const client = await register(servers.guarded.base, 'Chart Friend', https);
  await page.goto('https://client.example/start');
  await page.evaluate(to => { location = to; }, client.address); // the client's own site sends the browser here
  await page.getByLabel('passphrase').fill(passphrase);
  const request = await page.locator('input[name=request]').inputValue();
  await allow(page);
  await page.waitForURL(/^https:\/\/client\.example\/callback/);
  assert.equal(page.posts[0].status, 303);
  // Another site posts a form that it somehow got hold of.
  await page.evaluate(([to, value]) => {
    const form = document.createElement('form');
    form.method = 'post';
    form.action = to;
    form.innerHTML = '<input name=request><input name=decision value=allow>';
    form.elements.request.value = value;
    document.body.append(form);
    form.submit();
  }, [`${servers.guarded.base}/authorize`, request]);
  await until('the refusal', () => page.posts.some(p => p.status === 403));
});

await check('two consent pages in one browser both work', {}, async page => {
  const [a, b] = [await register(servers.guarded.base, 'One', https), await register(servers.guarded.base, 'Two', https)];
  await page.goto(a.address);
  const second = await visit(page.context());
  await second.goto(b.address);
  // One cookie for both: a form that is shown anew must not take the other one's away.
  const cookies = (await page.context().cookies()).map(c => [c.sameSite, c.httpOnly, c.name]);
  assert.deepEqual(cookies, [['Strict', true, 'wick-form']]);
  for (const open of [page, second]) {
    await open.getByLabel('passphrase').fill(passphrase);
    await allow(open);
    await open.waitForURL(/^https:\/\/client\.example/);
  }
});

// What is shown is where the browser goes: registration refuses a name or host,
// or the page shows it as Chromium reads it and Allow leads exactly there.
for (const [i, [name, redirect]] of hostileClients.entries()) {
  await check(`hostile ${i + 1}: ${JSON.stringify(name).slice(0, 40)} to ${JSON.stringify(redirect).slice(0, 70)}`, { viewport: { width: 1366, height: 633 } }, async page => {
    let client;
    try {
      client = await register(servers.open.base, name, redirect);
    } catch (err) {
      assert.match(err.message, /^register: 400 .*invalid_redirect_uri/);
      return;
    }
    await page.goto(client.address);
    const host = page.locator('dd .host');
    const shown = await host.innerText();
    assert.equal(shown, await page.evaluate(to => new URL(to).host, redirect));
    assert.match(shown, /^[a-z0-9.:[\]-]+$/);
    // The emphasised part ends the host, and neither is covered by anything.
    const strong = await host.locator('strong').innerText();
    assert.ok(shown.replace(/:\d+$/, '').endsWith(strong), `${strong} of ${shown}`);
    assert.ok(await host.locator('strong').evaluate(e => {
      const box = e.getClientRects()[0];
      return e.contains(document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2));
    }), 'the host is covered');
    const title = await page.locator('h1').innerText();
    assert.doesNotMatch(title, /[\p{Cc}\p{Cf}\p{Bidi_Control}]/u);
    assert.ok([...title].length < 80, title);
    assert.equal(await page.locator('main > h1, main > dl').count(), 2, 'the name added to the page');
    const [top, box] = [await page.locator('h1').boundingBox(), await host.boundingBox()];
    assert.ok(top.y + top.height <= box.y, 'the name reaches into the host');
    await allow(page);
    await until('the callback', () => page.callbacks.length > 0);
    assert.equal(new URL(page.callbacks[0].url).host, shown);
  });
}

await check('a wrong passphrase shows the page again with the error, then the right one works', {}, async page => {
  const client = await register(servers.guarded.base, 'Chart Friend', https);
  await page.goto(client.address);
  await page.getByLabel('passphrase').fill('wrong');
  await allow(page);
  await page.getByRole('alert').waitFor();
  assert.match(await page.getByRole('alert').textContent(), /not the passphrase/);
  assert.equal(await page.getByLabel('passphrase').inputValue(), '');
  assert.equal(await page.getByLabel('passphrase').getAttribute('aria-invalid'), 'true');
  await page.getByLabel('passphrase').fill(passphrase);
  await allow(page);
  await page.waitForURL(/^https:\/\/client\.example/);
});

await check('a form that is no longer good decides nothing and can be answered again', {}, async page => {
  const client = await register(servers.guarded.base, 'Chart Friend', https);
  await page.goto(client.address);
  await page.context().clearCookies(); // as if the form had come from another browser
  await page.getByLabel('passphrase').fill(passphrase);
  await allow(page);
  await page.getByRole('alert').waitFor();
  assert.match(await page.getByRole('alert').textContent(), /This answer was not taken/);
  assert.equal(page.callbacks.length, 0);
  await page.getByLabel('passphrase').fill(passphrase);
  await allow(page);
  await page.waitForURL(/^https:\/\/client\.example/);
});

await check('the back button shows a fresh form that works', {}, async page => {
  const client = await register(servers.guarded.base, 'Chart Friend', https);
  await page.goto(client.address);
  await page.getByLabel('passphrase').fill(passphrase);
  await allow(page);
  await page.waitForURL(/^https:\/\/client\.example/);
  const first = page.url();
  await page.goBack();
  await page.getByRole('button', { name: 'Allow' }).waitFor();
  assert.equal(await page.getByLabel('passphrase').inputValue(), '', 'the passphrase must not be remembered by the page');
  await page.getByLabel('passphrase').fill(passphrase);
  await allow(page);
  await page.waitForURL(url => url.host === 'client.example' && url.href !== first);
  assert.equal((await client.exchange(page.url())).status, 200);
});

await check('a client name full of markup is text', {}, async page => {
  const client = await register(servers.guarded.base, hostile, https);
  await page.goto(client.address);
  assert.equal(await page.title(), 'Allow access? · wick');
  assert.ok((await page.getByRole('heading', { level: 1 }).textContent()).includes('<script>'));
  assert.equal(await page.locator('script, h1 img').count(), 0);
  assert.deepEqual(page.blocked, [], 'the policy had something to stop');
});

await check('the page is styled, with its icon, and without the network', {}, async page => {
  const asked = [];
  page.on('request', r => asked.push(new URL(r.url()).origin));
  const client = await register(servers.guarded.base, 'Chart Friend', https);
  await page.goto(client.address, { waitUntil: 'networkidle' });
  assert.ok(await page.locator('img').first().evaluate(img => img.naturalWidth > 0), 'the icon did not load');
  assert.notEqual(await page.locator('main').evaluate(e => getComputedStyle(e).borderRadius), '0px', 'the style sheet was refused');
  assert.deepEqual([...new Set(asked)], [servers.guarded.base]);
  assert.deepEqual(page.blocked, []);
});

await check('the page cannot be framed', {}, async page => {
  const client = await register(servers.open.base, 'Chart Friend', https);
  await page.goto(`${servers.open.base}/favicon.svg`);
  await page.goto('about:blank');
  await page.setContent(`<iframe src="${client.address.replaceAll('&', '&amp;')}"></iframe>`);
  await until('the refusal', () => page.blocked.length > 0 || page.frames().some(f => f.url().startsWith('chrome-error:')));
  for (const frame of page.frames().slice(1)) assert.equal(await frame.locator('form').count(), 0);
});

// The redirects that a form-action of the page would stop, each with the
// control: under form-action 'self' the same test must see the block.
for (const [name, redirect, onward] of [
  ['an https callback', https, null],
  ['an https callback that goes on to an app', https, 'claude://mcp/callback?x=1'],
  ['an app', app, null],
]) {
  for (const control of [false, true]) {
    await check(`${control ? "control: under form-action 'self' Chromium blocks" : 'not blocked: the redirect to'} ${name}`, {}, async page => {
      const client = await register(servers.open.base, 'Chart Friend', redirect);
      page.onward = onward;
      if (control) page.policy = "form-action 'self'";
      await page.goto(client.address);
      await allow(page);
      await until('the answer to the form', () => page.posts.length > 0 || page.blocked.length > 0);
      if (control) {
        await until('the block', () => page.blocked.length > 0);
        return;
      }
      assert.equal(page.posts[0].status, 303);
      assert.ok(page.posts[0].location.startsWith(`${redirect}?code=`), page.posts[0].location);
      if (redirect === https) await until('the callback', () => page.callbacks.length > 0);
      await new Promise(resolve => setTimeout(resolve, 500)); // a block would be told by now
      assert.deepEqual(page.blocked, []);
      assert.equal((await client.exchange(page.posts[0].location)).status, 200);
    });
  }
}

await check('an unknown client gets a page that says what to do', {}, async page => {
  const reply = await page.goto(`${servers.open.base}/authorize?client_id=forgotten`);
  assert.equal(reply.status(), 400);
  assert.match(await page.textContent('main'), /add it again/);
  await page.screenshot({ path: `${pictures}problem.png` });
});

// Nobody has to scroll to say no.
for (const viewport of [{ width: 1366, height: 633 }, { width: 390, height: 844 }]) {
  await check(`Allow and Deny are in sight at ${viewport.width}x${viewport.height}`, { viewport }, async page => {
    for (const [server, name, redirect] of [
      [servers.guarded, 'Claude', 'https://claude.ai/api/mcp/auth_callback'],
      [servers.guarded, 'Claude Code (wick)', 'http://localhost:8787/callback'],
      [servers.open, 'Cursor', app],
    ]) {
      await page.goto((await register(server.base, name, redirect)).address);
      await page.screenshot({ path: `${pictures}fit-${viewport.width}-${name.split(' ').join('-')}.png` });
      for (const button of ['Allow', 'Deny']) {
        const box = await page.getByRole('button', { name: button }).boundingBox();
        assert.ok(box.y >= 0 && box.y + box.height <= viewport.height, `${button} for ${name} ends at ${box.y + box.height}`);
      }
    }
  });
}

// Pictures for people to look at, and one thing a program can see: nothing is
// wider than the screen.
for (const width of [1280, 390]) {
  for (const colorScheme of ['dark', 'light']) {
    const look = { viewport: { width, height: width === 390 ? 844 : 800 }, colorScheme, deviceScaleFactor: 2 };
    await check(`pictures at ${width}, ${colorScheme}`, look, async page => {
      const cases = {
        trade: [servers.guarded, 'Claude', 'https://claude.ai/api/mcp/auth_callback'],
        local: [servers.guarded, 'Claude Code (wick)', 'http://localhost:8787/callback'],
        simple: [servers.open, 'Cursor', app],
        hostile: [servers.guarded, hostile.repeat(2), `https://${'long-'.repeat(11)}name.${'sub.'.repeat(10)}example/cb`],
      };
      for (const [name, [server, client, redirect]] of Object.entries(cases)) {
        await page.goto((await register(server.base, client, redirect)).address);
        await page.screenshot({ path: `${pictures}${name}-${width}-${colorScheme}.png`, fullPage: true });
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${name} is wider than ${width} pixels`);
      }
      const { address } = await register(servers.guarded.base, 'Claude', https);
      await page.goto(address);
      await page.getByRole('radio', { name: /Charts and trading/ }).check();
      await page.getByLabel('passphrase').fill(' ');
      await page.context().clearCookies();
      await allow(page);
      await page.getByRole('alert').waitFor();
      await page.screenshot({ path: `${pictures}notice-${width}-${colorScheme}.png`, fullPage: true });
    });
  }
}

await browser.close();
await Promise.all(Object.values(servers).map(s => s.stop()));
console.log(`${passed} passed, ${failed} failed; pictures in dist/browser`);
process.exitCode = failed ? 1 : 0;
