// Logging in at this server: the code flow with PKCE, as any client does it. The token stays in memory and in this
// tab's session storage; it is never in an address.
import { t } from './texts.mjs';

/** The id by which the server knows its own page. */
const clientID = 'wick-app';
const kept = 'wick-token';
const asked = 'wick-login';
const opener = 'wick-key';

/** base64url writes bytes as OAuth wants them. */
export const base64url = bytes => btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');

const secret = () => base64url(crypto.getRandomValues(new Uint8Array(32)));

/** challengeOf returns the PKCE challenge of a verifier. */
export const challengeOf = async verifier => base64url(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))));

/** forgetToken ends the login in this tab. */
export const forgetToken = () => sessionStorage.removeItem(kept);

/** post sends a form of this client to the server's login. */
const post = (path, form) => fetch(path, { method: 'POST', credentials: 'omit', signal: AbortSignal.timeout(20_000), body: new URLSearchParams({ client_id: clientID, ...form }) });

/** pageKey returns the key of the address that wick prints at its start, null if there is none. It is needed at each
 * login and kept for this origin, which no other port can read. */
export function pageKey(search, store) {
  const key = new URLSearchParams(search).get('key');
  if (key) store.setItem(opener, key);
  return key ?? store.getItem(opener);
}

/** logIn sends the browser to the consent page. */
export async function logIn(base) {
  const key = pageKey(location.search, localStorage);
  const view = new URLSearchParams(location.search); // which is opened again after the login
  view.delete('key');
  const request = { state: secret(), verifier: secret(), view: view.size ? '?' + view : '' };
  sessionStorage.setItem(asked, JSON.stringify(request));
  const address = new URL(base + '/authorize');
  address.search = new URLSearchParams({
    ...(key && { key }), response_type: 'code', client_id: clientID, redirect_uri: base + '/app', state: request.state, scope: 'owner',
    code_challenge: await challengeOf(request.verifier), code_challenge_method: 'S256',
  });
  location.assign(address.href);
}

/** finishLogin takes the answer of the consent page out of the address and returns the token; without an answer that
 * of this tab, null if there is none. It fails if the answer is not to a question of this tab, or is no. */
export async function finishLogin(base) {
  const answer = Object.fromEntries(new URLSearchParams(location.search));
  if (!('state' in answer || 'code' in answer || 'error' in answer)) return sessionStorage.getItem(kept);
  const { state, verifier, view = '' } = JSON.parse(sessionStorage.getItem(asked) ?? '{}');
  history.replaceState(null, '', '/app' + view); // the code is of no use twice, and goes from the address
  sessionStorage.removeItem(asked);
  if (!state || answer.state !== state || answer.iss !== base) throw new Error(t('This answer is not to a login of this tab. Please log in again.'));
  if ('error' in answer) throw new Error(answer.error_description ?? t('The login was refused.'));
  const reply = await post('/token', { grant_type: 'authorization_code', code: answer.code ?? '', redirect_uri: base + '/app', code_verifier: verifier });
  const body = await reply.json();
  if (!reply.ok) throw new Error(body.error_description ?? t('The login failed.'));
  sessionStorage.setItem(kept, body.access_token);
  return body.access_token;
}

/** logOut gives the token back. */
export async function logOut(token) {
  forgetToken();
  await post('/revoke', { token }).catch(() => {});
}
