// A newcomer's first minute: connect, see a chart, be told of an alert. As a
// program: node first.mjs URL [PASSPHRASE], which prints when each was there, in
// seconds since its start or since BEGAN, in unix milliseconds.
import { fileURLToPath } from 'node:url';
import { connect, memoryProvider } from './sdk.mjs';
import { ask, isPNG, push } from './walk.mjs';

// first does it with a session and returns the seconds since began.
export async function first(session, began = Date.now()) {
  const seconds = () => (Date.now() - began) / 1000;
  const { content } = await session.call('generate_chart', { symbol: 'BTCUSDT' });
  if (!content.some(isPNG)) throw new Error(`no picture: ${content[0]?.text}`);
  const chart = seconds();
  await push(session);
  return { chart, push: seconds() };
}

// firstAt does it at an address.
export async function firstAt(url, passphrase, began = Date.now()) {
  const session = await connect(url, Object.assign(memoryProvider(), { passphrase }));
  const times = await first(session, began);
  return { ...times, session, orders: () => ask(session, 'get_orders') };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { chart, push: told, session } = await firstAt(process.argv[2], process.argv[3], Number(process.env.BEGAN ?? Date.now()));
  console.log(JSON.stringify({ chart, push: told }));
  await session.close();
  process.exit(0);
}
