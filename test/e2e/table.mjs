// The table that a run ends in: one row per client, one column per step, and
// below it the checks that belong to no column.
export const steps = ['/mcp', '/', '/sse', 'register', 'login', 'list', 'chart', 'indicators', 'order', 'alert', 'push', 'expiry', 'restart'];
// The columns of the clients that are walked through resources and prompts too.
const newer = ['login', 'list', 'chart', 'resource', 'prompt', 'push'];

const cells = []; // { client, step, verdict: 'ok' | 'FAIL' | 'n/a', why }
const others = []; // { client, step, ok }

// attempt runs fn, which throws, or returns false, when the step failed.
async function attempt(fn) {
  try {
    const value = typeof fn === 'function' ? await fn() : fn;
    return { ok: value !== false, value };
  } catch (e) {
    return { ok: false, why: e.stack ?? String(e) };
  }
}

const say = (verdict, client, step, why) => console.log(`${verdict.padEnd(4)} ${client}: ${step}${why ? `\n     ${String(why).slice(0, 900)}` : ''}`);

// cell fills one cell of the table and returns what fn returned.
export async function cell(client, step, fn) {
  const { ok, value, why } = await attempt(fn);
  cells.push({ client, step, verdict: ok ? 'ok' : 'FAIL' });
  say(ok ? 'PASS' : 'FAIL', client, step, why);
  return ok ? value : undefined;
}

// notApplicable fills one cell with the reason why there is nothing to try.
export function notApplicable(client, step, why) {
  cells.push({ client, step, verdict: 'n/a', why });
}

// check records a step that is no column of the table.
export async function check(client, step, fn, detail = '') {
  const { ok, why } = await attempt(fn);
  others.push({ client, step, ok });
  say(ok ? 'PASS' : 'FAIL', client, step, ok ? '' : why ?? detail);
  return ok;
}

function printTable(columns, clients) {
  if (!clients.length) return;
  const width = Math.max(...clients.map(c => c.length)) + 2;
  console.log(`\n${'client'.padEnd(width)}${columns.map(s => s.padStart(s.length < 5 ? 6 : s.length + 2)).join('')}`);
  for (const client of clients) {
    const verdict = step => cells.find(c => c.client === client && c.step === step)?.verdict ?? '-'; // not run
    console.log(client.padEnd(width) + columns.map(s => verdict(s).padStart(s.length < 5 ? 6 : s.length + 2)).join(''));
  }
}

function printCells() {
  const clients = [...new Set(cells.map(c => c.client))];
  const isNewer = client => cells.some(c => c.client === client && c.step === 'prompt');
  printTable(steps, clients.filter(c => !isNewer(c)));
  printTable(newer, clients.filter(isNewer));
  console.log('\nn/a, and why (e2e/README.md has the pointers):');
  for (const why of new Set(cells.filter(c => c.why).map(c => c.why))) {
    const where = clients.map(client => [client, cells.filter(c => c.client === client && c.why === why).map(c => c.step)]).filter(([, s]) => s.length);
    console.log(`- ${where.map(([client, s]) => `${client}: ${s.join(', ')}`).join('; ')}: ${why}`);
  }
}

function printOthers() {
  console.log('\nother checks                        passed  failed');
  for (const client of new Set(others.map(r => r.client))) {
    const mine = others.filter(r => r.client === client);
    console.log(`${client.padEnd(34)} ${String(mine.filter(r => r.ok).length).padStart(7)} ${String(mine.filter(r => !r.ok).length).padStart(7)}`);
  }
}

// report prints everything and ends the process.
export function report() {
  if (cells.length) printCells();
  printOthers();
  const count = verdict => cells.filter(c => c.verdict === verdict).length;
  const passed = count('ok') + others.filter(r => r.ok).length;
  const failed = count('FAIL') + others.filter(r => !r.ok).length;
  console.log(`\ntable: ${count('ok')} of ${cells.length} cells passed, ${count('FAIL')} failed, ${count('n/a')} do not apply\n`);
  console.log(`${passed} passed, ${failed} failed`);
  process.exit(failed ? 1 : 0);
}
