// Our pages in a real Chromium: browser/run.mjs and app/run.mjs print a line per check.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { bin, here, output } from './lib.mjs';
import { check } from './table.mjs';

export async function chromium() {
  await pages('Chromium, the consent page', 'browser', []);
  await pages('Chromium, the owner\'s page', 'app', ['owner']);
  await pages('Chromium, the chart in the hand', 'app', ['hands']);
  await pages('Chromium, the chart in a chat', 'app', ['chat']);
}

// pages runs the checks of one directory.
async function pages(name, directory, part) {
  const program = process.env.CHROMIUM ?? '/usr/bin/chromium';
  if (!existsSync(program)) {
    await check(name, 'Chromium is installed (apt-get install chromium)', false);
    return;
  }
  const { text } = await output(process.execPath, ['run.mjs', ...part], { cwd: join(here, directory), env: { ...process.env, CHROMIUM: program, WICK_BIN: bin }, seconds: 600 });
  const lines = [...text.matchAll(/^(ok|FAIL) +(.+)$/gm)];
  if (lines.length === 0) await check(name, 'runs', false, text);
  for (const [, verdict, step] of lines) await check(name, step, verdict === 'ok', text.slice(-900));
}
