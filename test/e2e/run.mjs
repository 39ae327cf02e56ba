// Runs every end-to-end check against the built binary: make e2e. With names of
// parts it runs those only: node run.mjs walk expiry.
import { agents } from './agents.mjs';
import { aiSDK } from './aisdk.mjs';
import { chromium } from './chromium.mjs';
import { conformance as suites } from './conformance.mjs';
import { eras } from './eras.mjs';
import { docs } from './docs.mjs';
import { goSDK, mcpGo, oauth2 } from './goclients.mjs';
import { details as inspectorDetails, inspector } from './inspector.mjs';
import { shortLived, start } from './lib.mjs';
import { oauth4webapi, openidClient } from './oauth.mjs';
import { behindProxies } from './proxies.mjs';
import { push } from './push.mjs';
import { remote } from './remote.mjs';
import { replicas } from './replicas.mjs';
import { bundle, container, deb, manual, registry, rpm, source } from './ship.mjs';
import { details as sdkDetails, http, stdio } from './sdk.mjs';
import { check, report } from './table.mjs';
import { python } from './python.mjs';
import { expiry, restart, walk } from './walk.mjs';

const drivers = [http, stdio, inspector, remote, goSDK, mcpGo, oauth4webapi, openidClient, oauth2]
  .filter(d => !process.env.CLIENT || d.name.includes(process.env.CLIENT));

async function walks() {
  const wick = await start();
  for (const driver of drivers) await walk(driver, wick);
  await sdkDetails(wick);
  await inspectorDetails();
  const secrets = /[A-Za-z0-9_-]{43}/; // tokens, codes, verifiers and secrets all look like this
  const log = wick.log().replace(/\/app\?key=\S+/, ''); // for the browser of the person who started it: it opens the page once
  await check('wick', 'the log holds no secret after all of this', !secrets.test(log), log.split('\n').find(l => secrets.test(l)));
  const { code } = await wick.stop();
  await check('wick', 'ends with exit code 0 on SIGTERM', code === 0, code);
}

// expiries run side by side: most of their time is waiting.
async function expiries() {
  const wick = await start({ program: shortLived() });
  await Promise.all(drivers.map(driver => expiry(driver, wick)));
  await wick.stop();
}

async function restarts() {
  for (const driver of drivers) await restart(driver);
}

async function conformance() {
  const wick = await start();
  await suites(wick);
  await wick.stop();
}

const parts = { walks, conformance, eras, python, agents, aiSDK, expiries, restarts, push, behindProxies, docs, chromium };
// Of what make release made, and what needs etcd; these run when they are named.
const shipped = { replicas, bundle, registry, manual, deb, rpm, container, source };
const wanted = process.argv.slice(2);
for (const [name, part] of Object.entries({ ...parts, ...shipped })) {
  if (wanted.length === 0 ? name in parts : wanted.includes(name)) await part();
}
report();
