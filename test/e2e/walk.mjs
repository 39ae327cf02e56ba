// The steps of the table, the same for every client. A client comes as a driver:
//
//	name          its row in the table
//	client        the name it registers under, by which the server's log knows it
//	na            the steps it cannot take: { step: why }
//	connect(url)  resolves to a session that is logged in
//	restarted(session, wick)  does what a person does after a restart of the
//	              server, and resolves to a session; without it, recover does
//
// and a session is
//
//	tools()            how many tools the server lists
//	call(tool, args)   the result, as the protocol has it
//	pushed()           the ids of the alerts that were pushed to the client
//	recover()          what a person does when the token has expired; resolves
//	                   to a session, which may be the same
//	close()
import { shortLife, sleep, start, toolCount, until } from './lib.mjs';
import { cell, check, notApplicable } from './table.mjs';

const texts = r => r.content.filter(c => c.type === 'text').map(c => c.text);

// ask calls a tool that must succeed and returns its first text, parsed.
export async function ask(session, tool, args = {}) {
  const r = await session.call(tool, args);
  if (r.isError) throw new Error(`${tool}: ${texts(r)[0]}`);
  return JSON.parse(texts(r)[0]);
}

function expect(ok, what) {
  if (!ok) throw new Error(what);
}

// step fills a cell, or says why the client has none.
function step(driver, name, fn) {
  if (driver.na[name]) return notApplicable(driver.name, name, driver.na[name]);
  return cell(driver.name, name, fn);
}

export const isPNG = c => c.type === 'image' && c.mimeType === 'image/png' && Buffer.from(c.data, 'base64').subarray(1, 4).toString() === 'PNG';

async function charts(session) {
  const chart = async format => (await session.call('generate_chart', { symbol: 'BTCUSDT', bars: 50, ...(format ? { format } : {}) })).content;
  expect((await chart()).some(isPNG), 'no format: no picture');
  expect((await chart('png')).some(isPNG), 'png: no picture');
  const both = await chart('both');
  expect(both.some(isPNG) && JSON.parse(texts({ content: both })[0]).price.bars === 50, 'both: not both');
  expect(JSON.parse((await chart('summary'))[0].text).price.bars === 50, 'summary: not 50 bars');
  expect(JSON.parse((await chart('series'))[0].text).bars.length === 50, 'series: not 50 bars');
}

async function indicators(session) {
  expect((await ask(session, 'list_indicators')).total > 200, 'list_indicators: too few');
  const { indicators } = await ask(session, 'get_indicators', { symbol: 'BTCUSDT', indicators: ['rsi', 'macd'] });
  expect(indicators.rsi && indicators.macd, 'get_indicators: not both');
}

async function order(session) {
  const bought = await ask(session, 'place_order', { symbol: 'BTCUSDT', side: 'buy', type: 'market', quantity: 0.01 });
  expect(bought.status === 'filled', `market order: ${bought.status}`);
  const lower = Number((bought.average_price * 0.8).toFixed(2));
  const waiting = await ask(session, 'place_order', { symbol: 'BTCUSDT', side: 'buy', type: 'limit', price: lower, quantity: 0.01 });
  expect((await ask(session, 'get_orders', { filter: 'open' })).some(o => o.order_id === waiting.order_id), 'the limit order does not wait');
  expect((await ask(session, 'cancel_order', { order_id: waiting.order_id })).ok === true, 'not cancelled');
  expect((await ask(session, 'get_positions')).some(p => p.symbol === 'BTCUSDT'), 'no position');
}

// trueAlready sets an alert that fires at the next price.
const trueAlready = async session => (await ask(session, 'set_alert', { symbol: 'BTCUSDT', condition: { price_above: 0.01 } })).alert_id;

async function alert(session) {
  const id = await trueAlready(session);
  await until(`alert ${id} in get_notifications`, async () => (await ask(session, 'get_notifications')).some(n => n.alert_id === id));
}

// push sets an alert and waits until the client has been told.
export async function push(session) {
  await ask(session, 'subscribe_notifications');
  await told(session);
}

async function told(session) {
  const id = await trueAlready(session);
  await until(`alert ${id} as a push`, async () => (await session.pushed()).includes(id), 30);
}

// stillSubscribed: a client that was approved again has its subscription back,
// as soon as the disk knows.
async function stillSubscribed(session, driver) {
  await until('the subscription', async () => (await ask(session, 'list_subscriptions')).subscribed);
  if (!driver.na.push) await told(session);
}

// walk takes all steps but the last two.
export async function walk(driver, wick) {
  const earlier = wick.log().length;
  const logged = message => until(message, () => wick.log().slice(earlier).split('\n').some(l => l.includes(`msg="${message}"`) && l.includes(driver.client)));
  let session;
  const connect = async () => { session = await driver.connect(`${wick.base}/mcp`); };
  if (driver.na['/mcp']) await check(driver.name, 'connects', connect);
  await step(driver, '/mcp', connect);
  if (!session) return;
  await step(driver, 'register', () => logged('client registered'));
  await step(driver, 'login', () => logged('token issued'));
  await step(driver, 'list', async () => (await session.tools()) === toolCount);
  await step(driver, 'chart', () => charts(session));
  await step(driver, 'indicators', () => indicators(session));
  await step(driver, 'order', () => order(session));
  await step(driver, 'alert', () => alert(session));
  await step(driver, 'push', () => push(session));
  await session.close();
  await step(driver, '/', async () => {
    const other = await driver.connect(wick.base);
    expect((await other.tools()) === toolCount, `not ${toolCount} tools`);
    if (!driver.na.push) await push(other);
    await other.close();
  });
  await step(driver, '/sse', async () => {
    const other = await driver.connect(`${wick.base}/sse`);
    await push(other);
    await other.close();
  });
}

// expiry: the token ends while the client is connected. wick is one whose
// tokens live for shortLife seconds.
export function expiry(driver, wick) {
  return step(driver, 'expiry', async () => {
    const logins = () => wick.log().split('\n').filter(l => l.includes('msg="token issued"') && l.includes(driver.client)).length;
    let session = await driver.connect(`${wick.base}/mcp`);
    await ask(session, 'subscribe_notifications');
    const before = logins();
    await sleep((shortLife + 1) * 1000);
    session = await session.recover();
    await stillSubscribed(session, driver);
    expect(logins() > before, `${logins()} logins, as before`);
    await session.close();
  });
}

// restart: the server ends and comes back while the client is connected, and
// knows neither the client nor its token any more.
export function restart(driver) {
  return step(driver, 'restart', async () => {
    let wick = await start();
    let session = await driver.connect(`${wick.base}/mcp`);
    await ask(session, 'subscribe_notifications');
    await wick.stop();
    wick = await start({ port: wick.port, home: wick.home });
    session = await (driver.restarted ?? (s => s.recover()))(session, wick);
    await stillSubscribed(session, driver);
    await session.close();
    await wick.stop();
  });
}
