// Sends wick's messages to servers that are not ours: Gotify, built from its Go
// module; an SMTP server with TLS and with STARTTLS; the verifier of Standard
// Webhooks. An alert on a price and an order are made, and each server is asked
// what it got. scripts/e2e notify runs it; PICTURES=DIR keeps the pictures that came.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { simpleParser } from 'mailparser';
import { SMTPServer } from 'smtp-server';
import { Webhook } from 'standardwebhooks';
import { freePort, launch, login, output, scratch, start, until, bin } from '../lib.mjs';

let failed = 0;
function check(what, ok, got) {
  console.log(`${ok ? 'ok  ' : 'FAIL'} ${what}${ok ? '' : `: ${JSON.stringify(got)}`}`);
  if (!ok) failed++;
}

const gotifyModule = 'github.com/gotify/server/v2@v2.6.1';

// gotify builds the server and starts it. The module has no built page, which the
// server would not start without, so it gets an empty one.
async function gotify(dir) {
  const info = JSON.parse(execFileSync('go', ['mod', 'download', '-json', gotifyModule], { cwd: dir, encoding: 'utf8' }));
  const src = join(dir, 'src');
  cpSync(info.Dir, src, { recursive: true });
  execFileSync('chmod', ['-R', 'u+w', src]);
  mkdirSync(join(src, 'ui/build/static'), { recursive: true });
  for (const name of ['index.html', 'manifest.json', 'asset-manifest.json', 'static/x']) writeFileSync(join(src, 'ui/build', name), '{}');
  execFileSync('go', ['build', '-o', join(dir, 'gotify'), '.'], { cwd: src, stdio: 'inherit' });
  const port = await freePort();
  launch(join(dir, 'gotify'), [], { cwd: dir, stdio: 'ignore', env: { PATH: process.env.PATH, HOME: dir, GOTIFY_SERVER_PORT: String(port), GOTIFY_SERVER_LISTENADDR: '127.0.0.1' } });
  const base = `http://127.0.0.1:${port}`;
  await until('gotify', () => fetch(`${base}/version`).then(r => r.ok, () => false));
  const authorization = 'Basic ' + Buffer.from('admin:admin').toString('base64');
  const app = await (await fetch(`${base}/application`, { method: 'POST', headers: { authorization, 'content-type': 'application/json' }, body: '{"name":"wick"}' })).json();
  return { base, token: app.token, messages: async () => (await (await fetch(`${base}/message`, { headers: { authorization } })).json()).messages };
}

// certificate makes one for 127.0.0.1, signed by itself.
function certificate(dir) {
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1',
    '-keyout', join(dir, 'key.pem'), '-out', join(dir, 'cert.pem')], { stdio: 'ignore' });
  return { key: readFileSync(join(dir, 'key.pem')), cert: readFileSync(join(dir, 'cert.pem')), file: join(dir, 'cert.pem') };
}

// mailbox is an SMTP server that wants a login and encryption.
async function mailbox(tls, secure) {
  const mails = [];
  const server = new SMTPServer({
    secure, key: tls.key, cert: tls.cert, authMethods: ['PLAIN'],
    onAuth: (auth, session, done) => auth.username === 'wick' && auth.password === 'pass word' && session.secure ? done(null, { user: 1 }) : done(new Error('no')),
    onData: (stream, session, done) => simpleParser(stream).then(m => { mails.push(m); done(); }, done),
  });
  const port = await freePort();
  await new Promise(done => server.listen(port, '127.0.0.1', done));
  server.on('error', () => {}); // clients that hang up
  return { port, mails, close: () => server.close() };
}

// receiver takes webhooks that the verifier accepts.
async function receiver(secret) {
  const wh = new Webhook(secret);
  const got = [];
  const server = createServer((request, response) => {
    const parts = [];
    request.on('data', d => parts.push(d));
    request.on('end', () => {
      try {
        const body = wh.verify(Buffer.concat(parts).toString(), request.headers);
        got.push({ id: request.headers['webhook-id'], ...body });
        response.writeHead(204).end();
      } catch (e) {
        got.push({ refused: String(e) });
        response.writeHead(400).end();
      }
    });
  });
  const port = await freePort();
  await new Promise(done => server.listen(port, '127.0.0.1', done));
  return { port, got, close: () => server.close() };
}

const dir = scratch();
const tls = certificate(dir);
const secret = 'whsec_' + randomBytes(32).toString('base64');
const server = await gotify(dir);
const implicit = await mailbox(tls, true), starttls = await mailbox(tls, false);
const hook = await receiver(secret);
const file = join(dir, 'destinations');
writeFileSync(file, `
hook webhook http://127.0.0.1:${hook.port}/in secret=${secret} allow-private picture
gotify gotify ${server.base} token=${server.token} allow-private
tls email smtps://wick:pass%20word@127.0.0.1:${implicit.port} from=wick@example.com to=me@example.com allow-private picture
starttls email smtp://wick:pass%20word@127.0.0.1:${starttls.port} from=wick@example.com to=me@example.com allow-private picture kinds=alert
`);
chmodSync(file, 0o600);
const env = { PATH: process.env.PATH, HOME: dir, SSL_CERT_FILE: tls.file };

const test = await output(bin, ['notify-test', '--notify-file', file], { env });
check('notify-test: every server takes its message', test.code === 0 && test.out === 'hook: sent\ngotify: sent\ntls: sent\nstarttls: sent\n', test);
const untrusted = await output(bin, ['notify-test', 'tls', '--notify-file', file], { env: { ...env, SSL_CERT_FILE: '' } });
check('notify-test: a certificate that nobody vouches for is refused', untrusted.code === 1 && untrusted.out.includes('certificate'), untrusted);

const wick = await start({ args: ['--trade', '--notify-file', file], env });
const { token } = await login(wick.base, { name: 'driver', scope: 'charts trade' });
const call = (name, args) => fetch(wick.base + '/mcp', {
  method: 'POST', headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }),
}).then(r => r.json());
await call('place_order', { symbol: 'BTCUSDT', side: 'buy', type: 'market', quantity: '0.2' });
await call('set_alert', { symbol: 'BTCUSDT', condition: { price_above: 0.5 }, note: 'a <b>note</b> & more' });

const alert = await until('the webhook of the alert', () => hook.got.find(w => w.type === 'alert'));
check('webhook: the verifier of Standard Webhooks accepts all', hook.got.every(w => !w.refused), hook.got);
check('webhook: login, fill and alert came in order', hook.got.map(w => w.type).join() === 'test,login,fill,alert', hook.got.map(w => w.type));
const messages = await until('the alert in gotify', async () => { const m = await server.messages(); return m.length >= 4 && m; });
check('gotify: all four messages, the text as it is', messages.length === 4 && messages[0].message === alert.data.text && alert.data.text.includes('a <b>note</b> & more'), messages);
for (const [name, box, count] of [['TLS', implicit, 4], ['STARTTLS', starttls, 2]]) {
  const mail = await until(`the mail over ${name}`, () => box.mails.length >= count && box.mails.at(-1));
  check(`mail over ${name}: text, id and picture`, mail.text.trim() === alert.data.text && mail.messageId === `<${alert.id}@example.com>` &&
    mail.attachments[0]?.contentType === 'image/png' && mail.attachments[0].content.equals(Buffer.from(alert.data.picture, 'base64')), mail);
  if (process.env.PICTURES) writeFileSync(join(process.env.PICTURES, `mail-${name}.png`), mail.attachments[0].content);
}
check('the log holds no secret', ![secret.slice(6), server.token, 'pass word', 'pass%20word'].some(s => wick.log().includes(s)), wick.log());
const { code } = await wick.stop();
check('wick ends with exit code 0', code === 0, code);
console.log(failed ? `${failed} failed` : 'all passed');
process.exit(failed ? 1 : 0);
