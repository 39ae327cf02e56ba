// The consent page in a real Chromium: browser/run.mjs prints a line per check.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { bin, here, output } from './lib.mjs';
import { check } from './table.mjs';

export async function chromium() {
  const program = process.env.CHROMIUM ?? '/usr/bin/chromium';
  const name = 'Chromium, the consent page';
  if (!existsSync(program)) {
    await check(name, 'Chromium is installed (apt-get install chromium)', false);
    return;
  }
  const { text } = await output(process.execPath, ['run.mjs'], { cwd: join(here, 'browser'), env: { ...process.env, CHROMIUM: program, WICK_BIN: bin }, seconds: 300 });
  const lines = [...text.matchAll(/^(ok|FAIL) +(.+)$/gm)];
  if (lines.length === 0) await check(name, 'runs', false, text);
  for (const [, verdict, step] of lines) await check(name, step, verdict === 'ok', text.slice(-900));
}
