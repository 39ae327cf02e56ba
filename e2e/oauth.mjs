// Plain OAuth clients: oauth4webapi and openid-client with their own checks,
// and requests in the way of golang.org/x/oauth2, which tries HTTP Basic first.
import * as oauth4 from 'oauth4webapi';
import * as openid from 'openid-client';
import { check, pkce, rpc } from './lib.mjs';

const redirect = 'http://127.0.0.1:41003/callback';
const insecure = { [oauth4.allowInsecureRequests]: true }; // loopback has no TLS

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
  const back = new URL((await fetch(url, { redirect: 'manual' })).headers.get('location'));
  const params = oauth4.validateAuthResponse(server, client, back, state); // checks iss too
  const token = await oauth4.processAuthorizationCodeResponse(server, client,
    await oauth4.authorizationCodeGrantRequest(server, client, oauth4.ClientSecretPost(client.client_secret), params, redirect, verifier, insecure));
  return token.access_token;
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
  const back = new URL((await fetch(url, { redirect: 'manual' })).headers.get('location'));
  return (await openid.authorizationCodeGrant(config, back, { pkceCodeVerifier: verifier, expectedState: state })).access_token;
}

async function likeGoOauth2(base) {
  const client = await (await fetch(`${base}/register`, {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ redirect_uris: [redirect], token_endpoint_auth_method: 'client_secret_post' }),
  })).json();
  const { verifier, challenge } = pkce();
  const query = new URLSearchParams({ response_type: 'code', client_id: client.client_id, redirect_uri: redirect, code_challenge: challenge, code_challenge_method: 'S256' });
  const back = new URL((await fetch(`${base}/authorize?${query}`, { redirect: 'manual' })).headers.get('location'));
  const form = { grant_type: 'authorization_code', code: back.searchParams.get('code'), redirect_uri: redirect, code_verifier: verifier };
  const basic = await fetch(`${base}/token`, {
    method: 'POST', body: new URLSearchParams(form),
    headers: { authorization: `Basic ${Buffer.from(`${client.client_id}:${client.client_secret}`).toString('base64')}` },
  });
  if (basic.status !== 401) throw new Error(`HTTP Basic got ${basic.status}`);
  const post = await fetch(`${base}/token`, { method: 'POST', body: new URLSearchParams({ ...form, client_id: client.client_id, client_secret: client.client_secret }) });
  return (await post.json()).access_token;
}

export async function oauth(wick) {
  const clients = { 'oauth4webapi 3.8.8': withOauth4webapi, 'openid-client 6.8.9': withOpenidClient, 'as golang.org/x/oauth2 does': likeGoOauth2 };
  for (const [name, flow] of Object.entries(clients)) {
    let token;
    await check(name, 'discovery to token', async () => { token = await flow(wick.base); return Boolean(token); });
    await check(name, 'the token opens a tool call', async () => (await rpc(wick.base, token, 'ping')).status === 200);
  }
}
