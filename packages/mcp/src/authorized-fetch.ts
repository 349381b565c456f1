import { SignInNeededError, type TokenSource } from "./sign-in/token-source.ts";

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/**
 * Adds the token of a sign-in to requests. A token that the server rejects is replaced once per request.
 *
 * @returns a function that throws SignInNeededError if a person has to sign in
 */
export function createAuthorizedFetch(fetch: Fetch, tokens: TokenSource): Fetch {
  return async (url, init) => {
    const token = await tokens.get();
    const response = await fetch(url, withToken(init, token));
    if (response.status === 403) await rejectMissingScope(response, tokens);
    if (response.status !== 401) {
      if (response.ok && token !== undefined) tokens.report(true);
      return response;
    }
    await response.body?.cancel();
    if (token === undefined) throw new SignInNeededError("it asks for a sign-in");
    const repeated = await fetch(url, withToken(init, await tokens.replace(token)));
    tokens.report(repeated.status !== 401);
    if (repeated.status !== 401) return repeated;
    await repeated.body?.cancel();
    throw new Error("it rejects the token that it was just given");
  };
}

function withToken(init: RequestInit | undefined, token: string | undefined): RequestInit | undefined {
  if (token === undefined) return init;
  const headers = new Headers(init?.headers);
  headers.set("authorization", `Bearer ${token}`);
  return { ...init, headers };
}

/** RFC 6750, section 3.1: the token is valid, but not for this request. */
async function rejectMissingScope(response: Response, tokens: TokenSource): Promise<void> {
  const { extractWWWAuthenticateParams } = await import("@modelcontextprotocol/sdk/client/auth.js");
  const { error, scope = "" } = extractWWWAuthenticateParams(response);
  if (error !== "insufficient_scope") return;
  await response.body?.cancel();
  const scopes = scope.slice(0, 300).replace(/[^\x21-\x7e ]/g, "");
  if (scopes !== "") tokens.requireScope(scopes);
  throw new SignInNeededError(
    scopes === ""
      ? "it asks for a sign-in with more rights"
      : `it asks for a sign-in with the scopes ${scopes}`,
  );
}
