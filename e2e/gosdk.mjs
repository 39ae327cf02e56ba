// Go's clients, in a module of their own: goclients prints a line per step.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { check, here } from './lib.mjs';

export async function goclients(wick) {
  const out = await new Promise(done => {
    const p = spawn('go', ['run', '.', wick.base], { cwd: join(here, 'goclients') });
    let text = '';
    p.stdout.on('data', d => { text += d; });
    p.stderr.on('data', d => { text += d; });
    p.on('close', () => done(text));
  });
  const steps = [...out.matchAll(/^(PASS|FAIL) (.+?): (.+?)(?:\t(.*))?$/gm)];
  if (steps.length === 0) await check('Go clients', 'build and run', false, out);
  for (const [, verdict, client, step, why] of steps) await check(client, step, verdict === 'PASS', why);
}
