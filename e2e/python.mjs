// Python's clients, each in an environment of its own: the official package in
// both generations, and FastMCP. 2.3.0 and FastMCP 4 open in the newer era.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { here, login, output, scratch, start } from './lib.mjs';
import { check } from './table.mjs';

const packages = { mcp2: 'mcp==2.3.0', mcp1: 'mcp==1.30.0', fastmcp: 'fastmcp==4.1.2' };

export async function python() {
  const wick = await start();
  const { token } = await login(wick.base, { name: 'python' });
  for (const [name, pinned] of Object.entries(packages)) {
    const client = `Python ${pinned.replace('==', ' ')}`;
    const env = scratch();
    const made = await check(client, 'installs', () => {
      execFileSync('python3', ['-m', 'venv', env]);
      execFileSync(join(env, 'bin/pip'), ['-q', 'install', pinned], { stdio: 'ignore' });
    });
    if (!made) continue;
    const r = await output(join(env, 'bin/python'), [join(here, 'python/walk.py'), name, `${wick.base}/mcp`, token]);
    const steps = r.code === 0 ? JSON.parse(r.out) : { walk: r.err.slice(-500) };
    for (const [step, said] of Object.entries(steps)) await check(client, step, said === true, said);
  }
  await wick.stop();
}
