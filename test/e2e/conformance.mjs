// The official MCP conformance suite, those scenarios that apply to a server
// with tools only that speaks 2025-03-26 and wants a token; README.md says
// which do not and why.
import http from 'node:http';
import { freePort, here, login, node22, output } from './lib.mjs';
import { check } from './table.mjs';

const older = {
  '0.1.16': { main: 'node_modules/@modelcontextprotocol/conformance/dist/index.js', extra: [], more: [] },
  '0.2.0-alpha.12': { main: 'node_modules/conformance-next/dist/index.js', extra: ['--spec-version', '2025-11-25'], more: ['server-session-lifecycle'] },
};
const both = [
  'tools-list', 'tools-call-simple-text', 'tools-call-image', 'tools-call-error', 'server-sse-multiple-streams', 'dns-rebinding-protection',
  'resources-list', 'resources-read-text', 'resources-read-binary', 'resources-templates-read', 'prompts-list', 'prompts-get-simple', 'prompts-get-with-args', 'completion-complete',
];
const scenarios = ['server-initialize', 'ping', 'server-sse-polling', 'resources-subscribe', 'resources-unsubscribe', ...both];
const newer = [
  'server-stateless', 'caching', 'http-header-validation', 'sep-2164-resource-not-found', 'input-required-result-unsupported-methods', ...both,
];

// The suite calls tools, resources and prompts of its own; they are replaced by ours with
// the same kind of content.
const standIns = {
  test_simple_text: { name: 'list_indicators', arguments: { query: 'rsi' } },
  test_image_content: { name: 'generate_chart', arguments: { bars: 60 } },
  test_error_handling: { name: 'get_balance', arguments: {} },
  test_simple_prompt: { name: 'review' },
  test_prompt_with_arguments: { name: 'set-alert' },
  'test://static-text': { uri: 'wick://guide' },
  'test://static-binary': { uri: 'wick://chart/BTCUSDT/4h' },
  'test://watched-resource': { uri: 'wick://alerts' },
  'test://template/123/data': { uri: 'wick://indicators/rsi' },
};

// excepted are single checks that cannot hold here; README.md says why.
const excepted = {
  'server-stateless': [
    'sep-2575-request-meta-invalid-missing-meta', 'sep-2575-request-meta-invalid-missing-protocol-version', 'sep-2575-http-server-meta-invalid-400',
    'sep-2575-server-rejects-undeclared-capability', 'sep-2575-missing-capability-http-400', 'sep-2575-http-server-no-independent-requests-on-stream', 'sep-2575-server-no-log-without-loglevel',
  ],
};

// standIn returns a message with our name in place of the suite's, and both names.
function standIn(message) {
  const asked = message.params?.name ?? message.params?.uri;
  const ours = standIns[asked];
  if (message.method === 'completion/complete') return { ...message, params: { ...message.params, ref: { type: 'ref/prompt', name: 'chart' }, argument: { name: 'symbol', value: 'B' } } };
  const given = message.params?.arguments;
  const arguments_ = asked === 'test_prompt_with_arguments' ? { arguments: { symbol: 'BTCUSDT', condition: `${given.arg1} ${given.arg2}` } } : {};
  return ours ? { ...message, params: { ...message.params, ...ours, ...arguments_ } } : message;
}

// tokenProxy adds the token, which the suite cannot be given, and replaces the names
// above. Everything else passes unchanged, including a foreign Host and Origin.
function tokenProxy(base, token) {
  const upstream = new URL(base);
  const server = http.createServer(async (req, res) => {
    const chunks = [];
    for await (const chunk of req) chunks.push(chunk);
    let body = Buffer.concat(chunks);
    const headers = { authorization: `Bearer ${token}`, ...req.headers };
    let renamed = text => text;
    try {
      const asked = JSON.parse(body), sent = standIn(asked);
      if (sent !== asked) body = Buffer.from(JSON.stringify(sent));
      const [from, to] = [asked, sent].map(m => m.params?.name ?? m.params?.uri);
      if (from !== to && headers['mcp-name'] === from) headers['mcp-name'] = to;
      if (from !== to && asked.params.uri) renamed = text => text.replaceAll(to, from).replaceAll('\\"name\\":\\"rsi\\"', '\\"name\\":\\"123\\"');
    } catch { /* not JSON, and the server shall see it so */ }
    delete headers['transfer-encoding'];
    const mine = String(server.address().port);
    for (const h of ['host', 'origin']) headers[h] = headers[h]?.replace(new RegExp(`(localhost|127\\.0\\.0\\.1):${mine}$`), upstream.host);
    if (!headers.origin) delete headers.origin;
    if (body.length) headers['content-length'] = String(body.length);
    const out = http.request({ host: '127.0.0.1', port: upstream.port, method: req.method, path: req.url, headers }, r => {
      const { 'content-length': _, ...kept } = r.headers;
      res.writeHead(r.statusCode, kept);
      r.on('data', text => res.write(renamed(String(text))));
      r.on('end', () => res.end());
    });
    out.on('error', () => res.destroy());
    res.on('close', () => out.destroy());
    out.end(body);
  });
  return new Promise(done => server.listen(0, '127.0.0.1', () => done({
    url: `http://127.0.0.1:${server.address().port}`,
    close: () => { server.closeAllConnections(); server.close(); },
  })));
}

const runSuite = (args, onText) => output(node22, args, { cwd: here, onText });

export async function conformance(wick) {
  const { token } = await login(wick.base, { name: 'conformance' });
  const proxy = await tokenProxy(wick.base, token);
  const only = process.env.SCENARIO?.split(',');
  const run = async (name, main, scenario, extra) => {
    if (only && !only.includes(scenario)) return;
    const r = await runSuite([main, 'server', '--url', `${proxy.url}/mcp`, '--scenario', scenario, ...extra, ...(scenario in excepted ? ['--verbose'] : [])]);
    const failed = [...r.text.matchAll(/"id": "([^"]+)",\s+"name": "[^"]+",\s+"description": "([^"]*)",\s+"status": "FAILURE"/g)].map(m => m[1]);
    const unexpected = scenario in excepted && failed.length > 0 ? failed.filter(id => !excepted[scenario].includes(id)) : r.code === 0 ? [] : ['it failed'];
    await check(name, scenario, unexpected.length === 0, unexpected.join(', ') + r.text.slice(only ? 0 : -500));
  };
  for (const [version, suite] of Object.entries(older)) {
    for (const scenario of [...scenarios, ...suite.more]) await run(`conformance ${version}`, suite.main, scenario, suite.extra);
  }
  const next = older['0.2.0-alpha.12'];
  for (const scenario of newer) await run('conformance 0.2.0-alpha.12, 2026-07-28', next.main, scenario, ['--spec-version', '2026-07-28']);
  proxy.close();
  if (only) return;

  // The two scenarios for authorization servers; this script is the browser.
  const port = await freePort();
  const { client } = await login(wick.base, { name: 'conformance', redirect: `http://127.0.0.1:${port}/callback` });
  let visited = false, said = '';
  const r = await runSuite([next.main, 'authorization', '--url', wick.base, '--client-id', client.client_id, '--port', String(port), '--spec-version', '2025-03-26'], text => {
    said += text;
    const url = /(http:\/\/\S+\/authorize\?\S+)\s/.exec(said)?.[1];
    if (url && /Callback server started/.test(said) && !visited) { visited = true; fetch(url).catch(() => {}); }
  });
  await check('conformance 0.2.0-alpha.12', 'authorization-server-metadata-endpoint, authorization-code-grant', r.code === 0 && visited, r.text.slice(-500));
}
