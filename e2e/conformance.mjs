// The official MCP conformance suite, those scenarios that apply to a server
// with tools only that speaks 2025-03-26 and wants a token; README.md says
// which do not and why.
import http from 'node:http';
import { freePort, here, login, node22, output } from './lib.mjs';
import { check } from './table.mjs';

const suites = {
  'conformance 0.1.16': { main: 'node_modules/@modelcontextprotocol/conformance/dist/index.js', extra: [], more: [] },
  'conformance 0.2.0-alpha.12': { main: 'node_modules/conformance-next/dist/index.js', extra: ['--spec-version', '2025-11-25'], more: ['server-session-lifecycle'] },
};
const scenarios = [
  'server-initialize', 'ping', 'tools-list', 'tools-call-simple-text', 'tools-call-image', 'tools-call-error',
  'server-sse-polling', 'server-sse-multiple-streams', 'dns-rebinding-protection',
];

// The suite calls tools of its own; ours of the same kind of content stand in.
const standIns = {
  test_simple_text: { name: 'list_indicators', arguments: { query: 'rsi' } },
  test_image_content: { name: 'generate_chart', arguments: { bars: 60 } },
  test_error_handling: { name: 'get_balance', arguments: {} },
};

// tokenProxy adds the token that the suite cannot be given and renames the
// tools above. All else passes as it is, a foreign Host and Origin included.
function tokenProxy(base, token) {
  const upstream = new URL(base);
  const server = http.createServer(async (req, res) => {
    const chunks = [];
    for await (const chunk of req) chunks.push(chunk);
    let body = Buffer.concat(chunks);
    try {
      const m = JSON.parse(body);
      if (m.method === 'tools/call' && standIns[m.params?.name]) body = Buffer.from(JSON.stringify({ ...m, params: { ...m.params, ...standIns[m.params.name] } }));
    } catch { /* not JSON, and the server shall see it so */ }
    const headers = { authorization: `Bearer ${token}`, ...req.headers };
    delete headers['transfer-encoding'];
    const mine = String(server.address().port);
    for (const h of ['host', 'origin']) headers[h] = headers[h]?.replace(new RegExp(`(localhost|127\\.0\\.0\\.1):${mine}$`), upstream.host);
    if (!headers.origin) delete headers.origin;
    if (body.length) headers['content-length'] = String(body.length);
    const out = http.request({ host: '127.0.0.1', port: upstream.port, method: req.method, path: req.url, headers }, r => {
      res.writeHead(r.statusCode, r.headers);
      r.pipe(res);
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
  for (const [name, suite] of Object.entries(suites)) {
    for (const scenario of [...scenarios, ...suite.more]) {
      const r = await runSuite([suite.main, 'server', '--url', `${proxy.url}/mcp`, '--scenario', scenario, ...suite.extra]);
      await check(name, scenario, r.code === 0, r.text.slice(-500));
    }
  }
  proxy.close();

  // The two scenarios for authorization servers; this script is the browser.
  const port = await freePort();
  const { client } = await login(wick.base, { name: 'conformance', redirect: `http://127.0.0.1:${port}/callback` });
  let visited = false, said = '';
  const next = suites['conformance 0.2.0-alpha.12'];
  const r = await runSuite([next.main, 'authorization', '--url', wick.base, '--client-id', client.client_id, '--port', String(port), '--spec-version', '2025-03-26'], text => {
    said += text;
    const url = /(http:\/\/\S+\/authorize\?\S+)\s/.exec(said)?.[1];
    if (url && /Callback server started/.test(said) && !visited) { visited = true; fetch(url).catch(() => {}); }
  });
  await check('conformance 0.2.0-alpha.12', 'authorization-server-metadata-endpoint, authorization-code-grant', r.code === 0 && visited, r.text.slice(-500));
}
