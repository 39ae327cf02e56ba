// Logging in at this server: the code flow with PKCE, as any client does it. The token
// stays in memory and in this tab's session storage; it is never in an address.

/** The id by which the server knows its own page. */
const clientID = 'wick-app';
const kept = 'wick-token';
const asked = 'wick-login';

/** base64url writes bytes as OAuth wants them. */
export function base64url(bytes) {
  return btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

function secret() {
  return base64url(crypto.getRandomValues(new Uint8Array(32)));
}

/** challengeOf returns what proves later that the verifier was known now. */
export async function challengeOf(verifier) {
  return base64url(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))));
}

/** storedToken returns the token of this tab, if there is one. */
export function storedToken() {
  return sessionStorage.getItem(kept) ?? undefined;
}

/** forgetToken ends the login in this tab. */
export function forgetToken() {
  sessionStorage.removeItem(kept);
}

/** logIn sends the browser to the consent page. */
export async function logIn(base) {
  const request = { state: secret(), verifier: secret() };
  sessionStorage.setItem(asked, JSON.stringify(request));
  const address = new URL(base + '/authorize');
  address.search = new URLSearchParams({
    response_type: 'code', client_id: clientID, redirect_uri: base + '/app', state: request.state, scope: 'owner',
    code_challenge: await challengeOf(request.verifier), code_challenge_method: 'S256',
  });
  location.assign(address.href);
}

/** finishLogin takes the answer of the consent page out of the address and returns the
 * token; undefined if there is no answer. It fails if the answer is not to a question
 * of this tab, or is no. */
export async function finishLogin(base) {
  const answer = new URLSearchParams(location.search);
  if (!answer.has('state') && !answer.has('code') && !answer.has('error')) return undefined;
  history.replaceState(null, '', '/app'); // the code is of no use twice, and goes from the address
  const request = JSON.parse(sessionStorage.getItem(asked) ?? '{}');
  sessionStorage.removeItem(asked);
  if (!request.state || answer.get('state') !== request.state || answer.get('iss') !== base) throw new Error('This answer is not to a login of this tab. Please log in again.');
  if (answer.has('error')) throw new Error(answer.get('error_description') ?? 'The login was refused.');
  const reply = await fetch('/token', {
    method: 'POST', credentials: 'omit',
    body: new URLSearchParams({ grant_type: 'authorization_code', code: answer.get('code') ?? '', client_id: clientID, redirect_uri: base + '/app', code_verifier: request.verifier }),
  });
  const body = await reply.json();
  if (!reply.ok) throw new Error(body.error_description ?? 'The login failed.');
  sessionStorage.setItem(kept, body.access_token);
  return body.access_token;
}

/** logOut gives the token back. */
export async function logOut(token) {
  forgetToken();
  await fetch('/revoke', { method: 'POST', credentials: 'omit', body: new URLSearchParams({ token, client_id: clientID }) }).catch(() => {});
}
