// Claude Code, Codex and opencode, without a screen and without an account: the
// login is their own, and a stand-in on loopback takes the place of the model.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { browser } from './browser.mjs';
import { cached, eraIn, output, scratch, start, toolCount } from './lib.mjs';
import { model } from './model.mjs';
import { cell, check, notApplicable } from './table.mjs';

// calls is what the model calls of every agent, by the agent's names for the tools.
const calls = (tool, list, read) => [
  { ...tool('generate_chart'), input: { bars: 60 }, step: 'chart', shows: /iVBOR/ },
  { tool: list, input: { server: 'wick' }, step: 'resource', shows: /wick:\/\/alerts/ },
  { tool: read, input: { server: 'wick', uri: 'wick://guide' }, step: 'resource', shows: /# How to read wick/ },
];

// An agent is
//
//	pinned, name, bin   its package, its row in the table and its program
//	client              the name it registers under
//	na                  the steps it cannot take: { step: why }
//	never               the requests that it never makes, which is why
//	era                 the protocol that it speaks
//	env(base)           what it needs to reach the model at base
//	setup(run, wick, base, home)  adds the server, as a person would
//	login               the command of its login
//	ask(run)            asks a question, and returns what the program wrote
//	script              what the model calls; step and shows say what the result must hold
//	tools(said)         the names of the tools that the model was told of
//	heard(text)         whether the program says that a push arrived
const claude = {
  pinned: '@anthropic-ai/claude-code@2.1.325', name: 'Claude Code 2.1.325', bin: 'claude', client: 'Claude Code (wick)', era: '2026-07-28', login: 'mcp login wick',
  na: { push: 'it listens for nothing' }, never: /method=(subscriptions|stream)/,
  env: base => ({
    ANTHROPIC_BASE_URL: base, ANTHROPIC_API_KEY: 'none', DISABLE_AUTOUPDATER: '1', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    MCP_CONNECTION_NONBLOCKING: 'false', // else a prompt may be asked for before the server is there, and is taken for plain text
  }),
  setup: (run, wick) => run('mcp', 'add', '--transport', 'http', '--scope', 'user', 'wick', `${wick.base}/mcp`),
  ask: run => run('-p', '/mcp__wick__chart BTCUSDT', '--allowedTools', 'mcp__wick'),
  script: [
    { tool: 'ToolSearch', input: { query: 'select:mcp__wick__generate_chart' } }, // it waits for the connection
    ...calls(name => ({ tool: `mcp__wick__${name}` }), 'ListMcpResourcesTool', 'ReadMcpResourceTool'),
  ],
  tools: said => JSON.stringify(said).match(/mcp__wick__(?!chart\b)\w+/g), // chart is the prompt
};

const codex = {
  pinned: '@openai/codex@0.166.0', name: 'Codex 0.166.0', bin: 'codex', client: 'Codex', era: '2025-03-26', login: 'mcp login wick',
  na: { prompt: 'it asks for no prompts' }, never: /method=prompts/,
  env: () => ({ RUST_LOG: 'rmcp=info' }),
  setup(run, wick, base, home) {
    mkdirSync(join(home, '.codex'));
    writeFileSync(join(home, '.codex/config.toml'), `
model = "stand-in"
model_provider = "here"
mcp_oauth_credentials_store = "file"
[model_providers.here]
name = "here"
base_url = "${base}/v1"
[mcp_servers.wick]
url = "${wick.base}/mcp"
`);
  },
  ask: run => run('exec', '--skip-git-repo-check', 'chart'),
  script: [
    ...calls(tool => ({ namespace: 'mcp__wick', tool }), 'list_mcp_resources', 'read_mcp_resource'),
    { namespace: 'mcp__wick', tool: 'subscribe_notifications', input: {} },
    { namespace: 'mcp__wick', tool: 'set_alert', input: { symbol: 'BTCUSDT', condition: { price_above: 0.01 } } },
    { namespace: 'mcp__wick', tool: 'list_alerts', input: {}, after: 4 }, // by then the alert has fired
  ],
  tools: said => said.at(-1).tools.find(t => t.name === 'mcp__wick').tools.map(t => t.name),
  heard: text => /received notification.*notifications\/alert_triggered/.test(text),
};

const opencode = {
  pinned: 'opencode-ai@1.18.33', name: 'opencode 1.18.33', bin: 'opencode', client: 'OpenCode', era: '2025-03-26', login: 'mcp auth wick',
  na: { push: 'it opens the stream and passes nothing on' }, never: /method=resources.subscribe/,
  env: () => ({}),
  setup(run, wick, base, home) {
    writeFileSync(join(home, 'opencode.json'), JSON.stringify({
      autoupdate: false, share: 'disabled', model: 'here/stand-in',
      provider: { here: { npm: '@ai-sdk/anthropic', options: { baseURL: `${base}/v1`, apiKey: 'none' }, models: { 'stand-in': { attachment: true, modalities: { input: ['text', 'image'], output: ['text'] } } } } },
      mcp: { wick: { type: 'remote', url: `${wick.base}/mcp` } },
    }));
  },
  ask: run => run('run', '--command', 'wick:chart', 'BTCUSDT'),
  script: calls(name => ({ tool: `wick_${name}` }), 'list_mcp_resources', 'read_mcp_resource'),
  tools: said => said.at(-1).tools.map(t => t.name).filter(name => name.startsWith('wick_')),
};

// drive walks one agent through the steps.
async function drive(agent) {
  let dir;
  const made = await check(agent.name, 'installs', () => {
    dir = cached(agent.pinned.replaceAll('/', '-'), to => execFileSync('npm', ['install', '--no-audit', '--no-fund', '--prefix', to, agent.pinned], { stdio: 'ignore' }));
  });
  if (!made) return;
  const wick = await start();
  const stand = await model(agent.script);
  const surf = browser();
  const home = scratch();
  const program = join(dir, 'node_modules/.bin', agent.bin);
  const options = {
    cwd: home, seconds: 240, stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...surf.env, HOME: home, PATH: `${surf.env.PATH}:${dirname(process.execPath)}`, ...agent.env(stand.base) },
  };
  const run = (...args) => output(program, args, options);
  const step = (name, fn) => (agent.na[name] ? notApplicable(agent.name, name, agent.na[name]) : cell(agent.name, name, fn));

  await agent.setup(run, wick, stand.base, home);
  await step('login', async () => {
    // Claude Code logs in at a terminal only, which script(1) gives it.
    const { text } = await output('script', ['-qec', `${program} ${agent.login}`, '/dev/null'], { ...options, stdio: 'pipe' });
    if (!wick.log().split('\n').some(l => l.includes('msg="token issued"') && l.includes(agent.client))) throw new Error(text);
  });
  const { text } = await agent.ask(run);
  const results = stand.results().map(r => JSON.stringify(r));
  const shown = name => agent.script.every((s, i) => s.step !== name || s.shows.test(results[i]));
  await check(agent.name, `speaks ${agent.era}`, () => eraIn(wick.log()) === agent.era);
  await check(agent.name, `sends no ${agent.never}`, () => !agent.never.test(wick.log()));
  await step('list', () => new Set(agent.tools(stand.said)).size === toolCount);
  await step('chart', () => shown('chart'));
  await step('resource', () => shown('resource'));
  await step('prompt', () => JSON.stringify(stand.said).includes('Call generate_chart with format=both for BTCUSDT'));
  await step('push', () => agent.heard(text));
  stand.close();
  await wick.stop();
}

export async function agents() {
  for (const agent of [claude, codex, opencode].filter(a => !process.env.CLIENT || a.name.includes(process.env.CLIENT))) await drive(agent);
}
