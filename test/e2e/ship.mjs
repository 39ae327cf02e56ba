// What make release made, in the hands of a newcomer: each walk starts from
// nothing but one file, or the source, in a clean environment, and ends with the
// first chart and the first push. The data is invented (--source sample), so
// that no service outside decides the outcome. Needs root, and the packages of
// scripts/e2e tools.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Ajv from 'ajv';
import addFormats from 'ajv-formats';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { first, firstAt } from './first.mjs';
import { endsWithUs, freePort, here, launch, output, scratch, sleep, until } from './lib.mjs';
import { newClient, sessionOf } from './sdk.mjs';
import { check } from './table.mjs';
import { ask } from './walk.mjs';

const root = join(here, '..', '..');
const dist = join(root, 'dist');
const passphrase = 'three candles and a wick';

// made is the one file of the release whose name matches.
const made = pattern => join(dist, readdirSync(dist).find(name => pattern.test(name)));

// must runs a program that has to succeed and returns what it said.
async function must(program, args, options) {
  const { code, text } = await output(program, args, { seconds: 1200, ...options });
  if (code !== 0) throw new Error(`${program} ${args.join(' ')}: ${code}\n${text.slice(-1500)}`);
  return text;
}

const say = (walk, times) => console.log(`walk ${walk}: ${Object.entries(times).map(([k, v]) => `${k} ${v.toFixed(1)} s`).join(', ')}`);
const since = began => (Date.now() - began) / 1000;

// settings are the environment that a host makes of the manifest and the form.
function settings(manifest, dir, answers) {
  const filled = text => text.replaceAll('${__dirname}', dir)
    .replace(/\$\{user_config\.(\w+)\}/g, (_, key) => String(answers[key] ?? manifest.user_config[key].default));
  const { command, args, env } = manifest.server.mcp_config;
  return { command: filled(command), args, env: Object.fromEntries(Object.entries(env).map(([k, v]) => [k, filled(v)])) };
}

// bundle: the official tool takes the file, and a client starts what is in it.
export async function bundle() {
  const mcpb = join(here, 'node_modules/.bin/mcpb');
  const dir = scratch();
  await check('bundle', 'unpacked, valid, chart and push', async () => {
    const began = Date.now();
    await must(mcpb, ['unpack', made(/\.mcpb$/), dir]);
    await must(mcpb, ['validate', join(dir, 'manifest.json')]);
    const manifest = JSON.parse(readFileSync(join(dir, 'manifest.json')));
    const client = newClient();
    await client.connect(new StdioClientTransport(settings(manifest, dir, { source: 'sample', data_dir: join(dir, 'state') })));
    const session = sessionOf(client);
    if (await session.tools() !== manifest.tools.length) throw new Error('the manifest lists other tools');
    say('bundle', await first(session, began));
    await session.close();
  });
}

// registry holds server.json to the schema that the registry's own module has.
export async function registry() {
  await check('server.json', 'the schema of the registry', () => {
    const module = JSON.parse(execFileSync('go', ['mod', 'download', '-json', 'github.com/modelcontextprotocol/registry@v1.8.7'], { cwd: scratch() }));
    const entry = JSON.parse(readFileSync(join(dist, 'server.json')));
    const date = entry.$schema.match(/schemas\/([0-9-]+)\//)[1];
    const ajv = new Ajv({ strict: false });
    addFormats(ajv);
    const valid = ajv.compile(JSON.parse(readFileSync(join(module.Dir, `internal/validators/schemas/${date}.json`))));
    if (!valid(entry)) throw new Error(JSON.stringify(valid.errors));
  });
}

// manual: the man page is one that man reads without a warning, and each shell
// takes its completion and completes with it.
export async function manual() {
  const dir = scratch();
  await must('tar', ['-xzf', made(/-share\.tar\.gz$/), '-C', dir]);
  const share = name => join(dir, 'share', name);
  await check('manual', 'man', async () => {
    const text = await must('man', ['--warnings', '--local-file', share('man/man1/wick.1.gz')], { env: { ...process.env, MANWIDTH: '80' } });
    if (/warning/.test(text) || !text.includes('--base-url')) throw new Error(text);
  });
  await check('manual', 'bash', async () => {
    const line = `. ${share('bash-completion/completions/wick')}; COMP_WORDS=(wick --theme ''); COMP_CWORD=2; _wick; echo "\${COMPREPLY[*]}"`;
    if ((await must('bash', ['-ec', line])).trim() !== 'dark light colorblind') throw new Error('no themes');
  });
  await check('manual', 'zsh', () => must('zsh', ['-n', share('zsh/site-functions/_wick')]));
  await check('manual', 'fish', async () => {
    const text = await must('fish', ['-c', `source ${share('fish/vendor_completions.d/wick.fish')}; complete -C 'wick --theme '`], { env: { ...process.env, HOME: dir } });
    if (!text.includes('colorblind')) throw new Error(text);
  });
}

// boot starts Debian with systemd in namespaces of its own, from a copy of what
// scripts/debian-root makes, and returns how to run something in it.
async function boot() {
  const base = process.env.DEBIAN_ROOT ?? join(tmpdir(), 'wick-debian');
  await must(join(root, 'scripts/debian-root'), [base]);
  const dir = mkdtempSync(join(tmpdir(), 'wick-machine-'));
  execFileSync('cp', ['-a', `${base}/.`, dir]);
  const machine = launch('systemd-nspawn', ['--quiet', '--directory', dir, '--boot', '--register=no', '--keep-unit'], { stdio: 'ignore' });
  const gone = endsWithUs(() => { machine.kill('SIGKILL'); rmSync(dir, { recursive: true, force: true }); });
  const children = pid => readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
  const init = await until('systemd', () => children(machine.pid)[0], 30);
  const inside = (line, options) => must('nsenter', ['--target', init, '--all', 'sh', '-ec', line], { env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', DEBIAN_FRONTEND: 'noninteractive' }, ...options });
  await until('systemd to be up', async () => /running|degraded/.test((await output('nsenter', ['--target', init, '--all', 'systemctl', 'is-system-running'])).out), 120);
  const end = async () => {
    machine.kill('SIGTERM');
    await until('the end of the machine', () => machine.exitCode !== null || machine.signalCode !== null, 60);
    gone();
  };
  return { dir, inside, end };
}

// configure is what the owner does after the installation, with another port,
// because the machine shares the network of this one.
async function configure({ dir, inside }, port) {
  await inside(`install -m 0600 /dev/stdin /etc/wick/passphrase <<E\n${passphrase}\nE`);
  const env = join(dir, 'etc/wick/wick.env');
  writeFileSync(env, `${readFileSync(env, 'utf8').replace('=auto', '=sample')}\nWICK_PORT=${port}\n`);
  await inside('systemctl enable --now wick');
  await healthy(inside, port);
}

const healthy = (inside, port) => inside(`for i in $(seq 100); do wick --healthcheck --port ${port} && exit; sleep 0.1; done; journalctl -u wick --no-pager; exit 1`);

// addKey is what docs/keys.md says of the service of the packages.
async function addKey({ dir, inside }, port) {
  await inside('wick key /etc/wick/key');
  const [lines] = readFileSync(join(root, 'docs/keys.md'), 'utf8').match(/^ +\[Service\]\n( +\S+\n)+/m);
  mkdirSync(join(dir, 'etc/systemd/system/wick.service.d'));
  writeFileSync(join(dir, 'etc/systemd/system/wick.service.d/override.conf'), lines.replace(/^ +/gm, '')); // as systemctl edit does
  await inside('systemctl daemon-reload && systemctl restart wick');
  await healthy(inside, port);
}

// deb: installed, started, upgraded with its state and the logins, removed and
// purged.
export async function deb() {
  const package_ = made(/_amd64\.deb$/);
  await check('deb', 'lintian finds no error', () => must('lintian', ['--fail-on', 'error', '--allow-root', package_, made(/_arm64\.deb$/)]));
  await check('deb', 'the life of an installation', async () => {
    const machine = await boot();
    const { dir, inside, end } = machine;
    const port = await freePort();
    const began = Date.now();
    execFileSync('cp', [package_, join(dir, 'root/wick.deb')]);
    await inside('cd /root && apt install --yes ./wick.deb');
    await configure(machine, port);
    const started = since(began);
    const url = `http://localhost:${port}/mcp`;
    const { chart, push, session } = await firstAt(url, passphrase, began);
    say('deb', { started, chart, push });
    await session.close();
    await addKey(machine, port);
    const later = await firstAt(url, passphrase);
    const order = await ask(later.session, 'place_order', { symbol: 'BTCUSDT', side: 'buy', type: 'market', quantity: 0.01 });
    console.log((await inside('runuser -u wick -- wick clients --data-dir /var/lib/wick; systemd-analyze security --no-pager wick | tail -n 1')).trim());

    await inside('cd /root && dpkg-deb -R wick.deb next && sed -i "s/^Version: .*/&+1/" next/DEBIAN/control && dpkg-deb -Zgzip -b next next.deb && dpkg -i next.deb');
    await inside('systemctl is-active wick && dpkg -s wick | grep "^Version.*+1"');
    await healthy(inside, port);
    if (!(await later.orders()).some(o => o.order_id === order.order_id)) throw new Error('the order is gone after the upgrade');
    await later.session.close();

    await inside('dpkg -r wick && ! systemctl is-active wick && ls /var/lib/wick/journal-* /etc/wick/wick.env');
    await inside('dpkg -P wick && ! ls -d /var/lib/wick /etc/wick');
    await end();
  });
}

// rpm: Debian's rpm reads the package, installs, verifies, replaces and erases
// it. What it depends on is unknown to that rpm, because dpkg installed it.
export async function rpm() {
  await check('rpm', 'checksums and header', async () => {
    const text = await must('rpm', ['-Kv', '--nosignature', made(/x86_64\.rpm$/), made(/aarch64\.rpm$/)]);
    if (/BAD|NOT/.test(text)) throw new Error(text);
  });
  await check('rpm', 'the life of an installation', async () => {
    const machine = await boot();
    const { dir, inside, end } = machine;
    const port = await freePort();
    const began = Date.now();
    execFileSync('cp', [made(/x86_64\.rpm$/), join(dir, 'root/wick.rpm')]);
    await inside('rpm -i --nodeps /root/wick.rpm && rpm -V --nodeps wick && rpm -qc wick | grep -x /etc/wick/wick.env');
    await configure(machine, port);
    const started = since(began);
    const { chart, push, session } = await firstAt(`http://localhost:${port}/mcp`, passphrase, began);
    say('rpm', { started, chart, push });
    await session.close();
    await inside('rpm -U --nodeps --replacepkgs /root/wick.rpm && systemctl is-active wick && grep -q "^WICK_PORT" /etc/wick/wick.env');
    await inside('rpm -e wick && ! systemctl is-active wick && ls /var/lib/wick/journal-*');
    await end();
  });
}

// container: the image of the release, loaded and run without Docker.
export async function container() {
  await check('container', 'chart and push', async () => {
    const began = Date.now();
    const text = await must('scripts/image', ['sh', '-c', 'node e2e/first.mjs "$WICK_URL/mcp"'], { cwd: root, env: { ...process.env, BEGAN: String(began) } });
    say('container', JSON.parse(text.match(/^\{.*\}$/m)[0]));
    console.log(text.trim());
  });
}

// source: a clone, built with empty caches in an empty home. Modules come from
// the network.
export async function source() {
  await check('source', 'chart and push', async () => {
    const home = scratch();
    const port = await freePort();
    const began = Date.now();
    await must('git', ['clone', '--quiet', root, join(home, 'wick')]);
    const env = { PATH: process.env.PATH, HOME: home, WICK_PORT: String(port), GOFLAGS: '-modcacherw' };
    const make = launch('make', ['run'], { cwd: join(home, 'wick'), env, stdio: 'ignore', detached: true });
    const stop = endsWithUs(() => { try { process.kill(-make.pid, 'SIGTERM'); } catch { /* it has ended */ } });
    const url = `http://localhost:${port}`;
    await until('the first build', () => fetch(url).then(() => true, () => false), 1200);
    const started = since(began);
    const { chart, push, session } = await firstAt(`${url}/mcp`, undefined, began);
    say('source', { started, chart, push });
    await session.close();
    stop();
    await sleep(1000);
  });
}
