// Runs every end-to-end check against the built binary: make e2e.
import { cli } from './cli.mjs';
import { conformance } from './conformance.mjs';
import { goclients } from './gosdk.mjs';
import { check, report, start } from './lib.mjs';
import { oauth } from './oauth.mjs';
import { behindProxies } from './proxies.mjs';
import { push } from './push.mjs';
import { restart, sdk } from './sdk.mjs';

const wick = await start();
await conformance(wick);
await oauth(wick);
await sdk(wick);
await goclients(wick);
await cli(wick);
const secrets = /[A-Za-z0-9_-]{43}/; // tokens, codes, verifiers and secrets all look like this
await check('log', 'holds no secret after all of this', !secrets.test(wick.log()), wick.log().split('\n').find(l => secrets.test(l)));
const { code } = await wick.stop();
await check('wick', 'ends with exit code 0 on SIGTERM', code === 0, code);
await push();
await restart();
await behindProxies();
report();
