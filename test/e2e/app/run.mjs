// The owner's page and the chart for chats in a real Chromium. Ends in "N passed, N
// failed"; the exit status says the same. Pictures go to dist/app.
import { start } from '../browser/wick.mjs';
import { chatChecks } from './chat.mjs';
import { faultChecks } from './faults.mjs';
import { handChecks } from './hands.mjs';
import { inspectorChecks } from './inspector.mjs';
import { binary, browser, count, passphrase } from './lib.mjs';
import { ownerChecks } from './owner.mjs';
import { speed } from './speed.mjs';

const only = process.argv[2]; // owner, hands, faults, chat, inspector or speed, then a part of a check's name; all without
const servers = {
  open: await start(binary, { passphrase, trade: true }),
  asking: await start(binary, { passphrase, trade: true, extra: ['--confirm-above', '1'] }),
};
try {
  if (!only || only === 'owner') await ownerChecks(servers);
  if (!only || only === 'hands') await handChecks(servers);
  if (!only || only === 'faults') await faultChecks(servers);
  if (!only || only === 'chat') await chatChecks(servers.open);
  if (!only || only === 'inspector') await inspectorChecks(servers.open);
  if (!only || only === 'speed') await speed(servers.open);
} finally {
  await browser.close();
  for (const s of Object.values(servers)) await s.stop();
}
console.log(`${count.passed} passed, ${count.failed} failed`);
process.exit(count.failed ? 1 : 0);
