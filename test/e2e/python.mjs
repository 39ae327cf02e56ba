// Python's clients, each in an environment of its own, which the cache keeps.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { cached, eraIn, here, output, scratch, start, toolCount } from './lib.mjs';
import { browser } from './browser.mjs';
import { cell, check, notApplicable } from './table.mjs';

// The clients: the package, what must be pinned with it, its driver in
// python/clients.py, the era that it speaks, and the steps that it cannot take.
const clients = [
  { pinned: 'mcp==2.3.0', driver: 'mcp2', era: '2026-07-28' },
  { pinned: 'mcp==1.30.0', driver: 'mcp1', era: '2025-03-26' },
  { pinned: 'mcp==1.12.0', with: ['pydantic==2.11.7'], driver: 'mcp1_12', era: '2025-03-26' },
  { pinned: 'fastmcp==4.1.2', driver: 'fastmcp', era: '2026-07-28' },
  { pinned: 'fastmcp==2.14.7', driver: 'fastmcp', era: '2025-03-26' },
  { pinned: 'langchain-mcp-adapters==0.3.2', with: ['mcp==1.30.0'], driver: 'langchain', era: '2025-03-26' },
  { pinned: 'openai-agents==0.24.0', with: ['mcp==2.3.0'], driver: 'openai_agents', era: '2026-07-28' },
  { pinned: 'pydantic-ai-slim==2.66.0', with: ['pydantic-ai-slim[mcp]', 'fastmcp-slim==4.1.8'], driver: 'pydantic_ai', era: '2026-07-28' },
  { pinned: 'mcp-use==1.7.1', with: ['mcp==1.30.0'], driver: 'mcp_use', era: '2025-03-26' },
];

const environment = (pinned, also) => cached(pinned, dir => {
  execFileSync('python3', ['-m', 'venv', dir]);
  execFileSync(join(dir, 'bin/pip'), ['-q', 'install', pinned, ...also], { stdio: 'ignore' });
});

// drive walks one client through the steps, with a wick of its own.
async function drive({ pinned, with: also = [], driver, era, na = {} }) {
  const name = pinned.replace('==', ' ');
  let dir;
  if (!await check(name, 'installs', () => { dir = environment(pinned, also); })) return;
  const wick = await start();
  const { env } = browser();
  const r = await output(join(dir, 'bin/python'), [join(here, 'python/walk.py'), driver, `${wick.base}/mcp`],
    { seconds: 300, env: { ...env, BROWSER: `${env.BROWSER} %s &`, HOME: scratch(), PYTHONDONTWRITEBYTECODE: '1', WICK_TOOLS: String(toolCount), MCP_USE_ANONYMIZED_TELEMETRY: 'false' } });
  const said = r.out.includes('{') ? JSON.parse(r.out.slice(r.out.lastIndexOf('\n{') + 1)) : { login: r.err };
  const log = wick.log();
  for (const step of ['login', 'list', 'chart', 'resource', 'prompt', 'push']) {
    if (na[step]) notApplicable(name, step, na[step]);
    else await cell(name, step, () => { if (said[step] !== true) throw said[step] ?? 'not reached'; });
  }
  await check(name, 'the token is of a login of its own', log.includes('msg="token issued"'));
  await check(name, `speaks ${era}`, eraIn(log) === era, log);
  await check(name, 'ends well', !said.end, said.end);
  await wick.stop();
}

export async function python() {
  for (const client of clients.filter(c => !process.env.CLIENT || c.pinned.includes(process.env.CLIENT))) await drive(client);
}
