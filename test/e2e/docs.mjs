// The shell blocks of README.md and docs/, run as they stand.
import { join } from 'node:path';
import { bin, here, output } from './lib.mjs';
import { check } from './table.mjs';

export async function docs() {
  const { code, text } = await output('scripts/docs-check', [], { cwd: join(here, '..', '..'), env: { ...process.env, WICK_BIN: bin }, seconds: 600 });
  await check('docs', 'every shell block runs as written', code === 0, text);
}
