// OAuth libraries that speak no MCP: oauth4webapi and openid-client do the
// login and carry the requests, and what a request says is written here.
import * as oauth4 from 'oauth4webapi';
import * as openid from 'openid-client';
import { visit } from './lib.mjs';
import { versionOf } from './sdk.mjs';

const redirect = 'http://127.0.0.1:41003/callback';
const insecure = { [oauth4.allowInsecureRequests]: true }; // loopback has no TLS
const headers = () => new Headers({ 'content-type': 'application/json', accept: 'application/json, text/event-stream' });

// withOauth4webapi registers, logs in and returns how to send a request.
async function withOauth4webapi(base) {
  const issuer = new URL(base);
  const server = await oauth4.processDiscoveryResponse(issuer, await oauth4.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure }));
  const client = await oauth4.processDynamicClientRegistrationResponse(
    await oauth4.dynamicClientRegistrationRequest(server, { client_name: 'oauth4webapi', redirect_uris: [redirect], token_endpoint_auth_method: 'client_secret_post' }, insecure));
  const verifier = oauth4.generateRandomCodeVerifier();
  const state = oauth4.generateRandomState();
  const url = new URL(server.authorization_endpoint);
  url.search = new URLSearchParams({
    response_type: 'code', client_id: client.client_id, redirect_uri: redirect, state,
    code_challenge: await oauth4.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256',
  });
  const params = oauth4.validateAuthResponse(server, client, await visit(url), state); // checks iss too
  const { access_token } = await oauth4.processAuthorizationCodeResponse(server, client,
    await oauth4.authorizationCodeGrantRequest(server, client, oauth4.ClientSecretPost(client.client_secret), params, redirect, verifier, insecure));
  return (method, address, body) => oauth4.protectedResourceRequest(access_token, method, new URL(address), headers(), body, insecure);
}

async function withOpenidClient(base) {
  const config = await openid.dynamicClientRegistration(new URL(base),
    { client_name: 'openid-client', redirect_uris: [redirect], token_endpoint_auth_method: 'none' }, openid.None(),
    { algorithm: 'oauth2', execute: [openid.allowInsecureRequests] });
  const verifier = openid.randomPKCECodeVerifier();
  const state = openid.randomState();
  const url = openid.buildAuthorizationUrl(config, {
    redirect_uri: redirect, state, code_challenge: await openid.calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256',
  });
  const { access_token } = await openid.authorizationCodeGrant(config, await visit(url), { pkceCodeVerifier: verifier, expectedState: state });
  return (method, address, body) => openid.fetchProtectedResource(config, access_token, new URL(address), method, body, headers());
}

// listen reads the stream and notes the alerts that come.
async function listen(reader, pushes) {
  let text = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const frames = (text + value).split('\n\n');
    text = frames.pop();
    for (const data of frames.flatMap(f => f.split('\n')).filter(l => l.startsWith('data: '))) pushes.push(JSON.parse(data.slice(6)).params.alert_id);
  }
}

// driver makes a session of walk.mjs from a login.
function driver(name, client, login) {
  return {
    name, client, na: {},
    async connect(url) {
      const base = new URL(url).origin;
      const posts = url.replace(/\/sse$/, '/message'); // the older pair of addresses
      const send = await login(base);
      const stream = await send('GET', posts === url ? `${base}/mcp` : url);
      const reader = stream.body.pipeThrough(new TextDecoderStream()).getReader();
      const pushes = [];
      listen(reader, pushes).catch(() => {}); // the server, or its restart, ended it
      let id = 0;
      const rpc = async (method, params) => {
        const r = await send('POST', posts, JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params }));
        const { result, error } = await r.json();
        if (error) throw new Error(JSON.stringify(error));
        return result;
      };
      return {
        tools: async () => (await rpc('tools/list')).tools.length,
        call: (name, args) => rpc('tools/call', { name, arguments: args }),
        pushed: () => pushes,
        // The library reads the challenge of the 401 and throws it; its user
        // logs in again.
        recover: async () => {
          const e = await rpc('ping').then(() => null, e => e);
          if (e?.cause?.[0]?.parameters?.error !== 'invalid_token') throw new Error(`no challenge: ${e?.stack}`);
          return this.connect(url);
        },
        close: () => reader.cancel().catch(() => {}), // it may have ended already
      };
    },
  };
}

export const oauth4webapi = driver(`oauth4webapi ${versionOf('oauth4webapi')}`, 'oauth4webapi', withOauth4webapi);
export const openidClient = driver(`openid-client ${versionOf('openid-client')}`, 'openid-client', withOpenidClient);
