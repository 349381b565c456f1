import { OidcLogin, type OidcRedirect } from "@signalbox/protocol";
import type { Context } from "hono";
import { type Auth, OidcError } from "../auth/index.ts";
import { apiErrors } from "../error-replies.ts";
import type { Env } from "../middleware.ts";

/** Path to which the OpenID provider sends logout tokens (OpenID Connect Back-Channel Logout 1.0). */
export const OIDC_LOGOUT_PATH = "/oauth/oidc/backchannel-logout";

/** `POST /api/login/oidc`: starts a sign-in. Only the gateway's own page can do that, and it follows the response. */
export async function startOidcSignIn(context: Context<Env>, auth: Auth): Promise<Response> {
  if (!auth.oidc.isOffered()) return apiErrors.missing(context, "OpenID provider");
  const body = OidcLogin.safeParse(await context.req.json().catch(() => undefined));
  if (!body.success) return apiErrors.badJson(context, 'Send {} or {"returnTo": "/path"}.');
  // The cookie must belong to the host to which the provider sends the browser back.
  const { host, href } = auth.oidc.publicUrl();
  if (context.req.header("host") !== host) return apiErrors.wrongAddress(context, href);
  try {
    const { returnTo, again } = body.data;
    const { url, cookie } = await auth.oidc.start({
      ...(returnTo === undefined ? {} : { returnTo }),
      ...(again === undefined ? {} : { again }),
    });
    context.header("set-cookie", cookie);
    const redirect: OidcRedirect = { url };
    return context.json(redirect);
  } catch (error) {
    if (error instanceof OidcError) return apiErrors.providerFailed(context, error.code === "unreachable");
    throw error;
  }
}

/**
 * `GET /oauth/oidc/callback`: the provider sends the browser here, so the request comes from another site. `state` and
 * a cookie show that this browser started the sign-in.
 */
export async function finishOidcSignIn(context: Context<Env>, auth: Auth): Promise<Response> {
  const [, query = ""] = context.req.url.split(/\?(.*)/s);
  // The address contains the code.
  context.header("referrer-policy", "no-referrer");
  return context.redirect(await auth.oidc.finish(query, context.req.header("cookie")), 303);
}

/** `POST /oauth/oidc/backchannel-logout`: the signature of the token is the credential. */
export async function endOidcSessions(context: Context<Env>, auth: Auth): Promise<Response> {
  const form = new URLSearchParams(await context.req.text());
  const token = form.get("logout_token");
  const isValid = token !== null && (await auth.browsers.signOutByProvider(token));
  return isValid ? context.body(null, 200) : context.json({ error: "invalid_request" }, 400);
}
