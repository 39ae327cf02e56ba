// make demo: one walk with built-in data, as a newcomer takes it: log in, see a chart, order
// with a stop, have an alert fire. It prints what it sees and makes the pictures of README and
// docs anew, so that they show the program as it is.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { start } from '../browser/wick.mjs';
import { host } from './chat.mjs';
import { binary, browser, client, logIn, passphrase, until } from './lib.mjs';

const docs = fileURLToPath(new URL('../../../docs/', import.meta.url));
const wick = await start(binary, { passphrase, trade: true });
const context = await browser.newContext({ viewport: { width: 1440, height: 1180 }, colorScheme: 'dark', timezoneId: 'UTC' });
context.setDefaultTimeout(20_000);
try {
  const model = await client(wick, 'a chat app');
  const call = async (name, args) => {
    const { result } = await model.call(name, args);
    assert.ok(!result.isError, JSON.stringify(result));
    return result;
  };
  const said = async (name, args) => JSON.parse((await call(name, args)).content[0].text);

  const page = await context.newPage();
  await logIn(page, wick);
  console.log('logged in, a chart is shown');
  const order = await said('place_order', { symbol: 'BTCUSDT', side: 'buy', type: 'market', quantity: 20, stop_loss: '3%', take_profit: '6%' });
  console.log(`bought: ${order.status} at ${order.average_price ?? order.filled_price ?? order.price}, with a stop and a target`);
  await said('place_order', { symbol: 'BTCUSDT', side: 'buy', type: 'limit', quantity: 5, price: Number((order.average_price ?? order.filled_price ?? order.price) * 0.985).toFixed(2) });
  await said('set_alert', { symbol: 'BTCUSDT', condition: { price_above: 1 }, note: 'above 1' });
  await said('set_alert', { symbol: 'BTCUSDT', interval: '4h', condition: { rule: 'rsi(14) < 30 and close > ema(200)@1d' }, note: 'a dip in a rising market' });
  let fired;
  await until('the alert fires', async () => {
    const { result } = await model.call('get_notifications', { again: true });
    const text = result.content.map(c => c.text).join('\n');
    fired = text.match(/"message":"([^"]*)"/)?.[1];
    return fired;
  });
  console.log(`an alert fired: ${fired}`);
  await page.waitForTimeout(8000); // the page looks for orders and positions every few seconds
  await page.waitForSelector('.toast', { state: 'detached' }); // it lies over the fields above the chart
  await page.screenshot({ path: docs + 'app.png' });

  const chat = await (await browser.newContext({ viewport: { width: 900, height: 480 }, timezoneId: 'UTC' })).newPage();
  const listed = (await model.request('tools/list', {})).result.tools.find(t => t.name === 'generate_chart');
  const html = (await model.request('resources/read', { uri: listed._meta.ui.resourceUri })).result.contents[0].text;
  const input = { symbol: 'BTCUSDT', interval: '4h', indicators: ['bbands', 'rsi'], bars: 150 };
  const view = await host(chat, async (name, args) => (await model.call(name, args)).result, { html, context: { theme: 'dark', displayMode: 'inline', timeZone: 'UTC', containerDimensions: { maxHeight: 480 } } });
  await view.bridge.sendToolInput({ arguments: input });
  await view.bridge.sendToolResult(await call('generate_chart', input));
  await view.frame.waitForSelector('#chart[data-state=ready]');
  await chat.waitForTimeout(1000);
  await chat.screenshot({ path: docs + 'app-chat.png' });
  view.close();
  console.log('the chart is shown in a chat');

  // Both beside each other, as README shows them.
  const picture = name => `data:image/png;base64,${readFileSync(docs + name).toString('base64')}`;
  const both = await context.newPage();
  await both.setViewportSize({ width: 1600, height: 664 });
  await both.setContent(`<style>body{margin:0;padding:16px;background:#0e1117;color:#e8eaef;font:17px/1.45 system-ui,sans-serif;display:flex;gap:20px}
    img{display:block;width:100%;border-radius:10px;border:1px solid #2b3340} .page{width:770px;height:630px;overflow:hidden;flex:none} .chat{flex:1}
    .ask{background:#1d2733;border-radius:14px;padding:10px 16px;margin:0 0 14px 90px} .answer{margin:14px 0 0}</style>
    <div class="page"><img src="${picture('app.png')}"></div>
    <div class="chat"><p class="ask">Show BTCUSDT on the 4 hour chart with Bollinger bands and RSI. Tell me when it dips in a rising market.</p>
    <img src="${picture('app-chat.png')}"><p class="answer">Here is the chart. The data is invented. The alert is set: it fires when RSI(14) falls below 30 while the price is above its 200-day average.</p></div>`);
  await both.waitForTimeout(300);
  await both.screenshot({ path: docs + 'demo.png' });
  console.log('pictures: docs/app.png, docs/app-chat.png, docs/demo.png');
} finally {
  await browser.close();
  await wick.stop();
}
