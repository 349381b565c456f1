import { LoginRequest, type SignedIn, type SignInLink } from "@signalbox/protocol";
import type { Context } from "hono";
import type { Auth } from "../auth/index.ts";
import { apiErrors } from "../error-replies.ts";
import { type Env, getPeer } from "../middleware.ts";

/**
 * `POST /api/login`: exchanges a token, or the secret of a sign-in link, for a session. Half of the session's
 * credential is in the cookie, half in the body.
 */
export async function signIn(context: Context<Env>, auth: Auth): Promise<Response> {
  const request = LoginRequest.safeParse(await context.req.json().catch(() => undefined));
  if (!request.success) return apiErrors.badJson(context, 'Send {"token": "…"}.');
  const result = await auth.signIn(request.data.token, {
    ...getPeer(context),
    // The origin of the page shows HTTPS even if the proxy that terminates TLS sends no header about it.
    secure: context.req.header("origin")?.startsWith("https:") === true,
  });
  if (result.kind === "throttled") return apiErrors.throttled(context);
  if (result.kind !== "signed_in") return apiErrors.unauthorized(context);
  context.header("set-cookie", result.cookie);
  const body: SignedIn = { sessionKey: result.sessionKey };
  return context.json(body);
}

/**
 * `POST /api/sign-in-links`: creates a link for the holder of an owner's token. A session cannot create one, because
 * the session that the link opens would outlive it.
 */
export async function createSignInLink(context: Context<Env>, auth: Auth): Promise<Response> {
  const access = context.get("access");
  if (access.session !== undefined) return apiErrors.forbidden(context);
  const link: SignInLink = await auth.issueLink(access);
  return context.json(link);
}

/** `POST /api/logout`: ends the session on the server and closes every socket that it opened. */
export async function signOut(context: Context<Env>, auth: Auth): Promise<Response> {
  const cookies = await auth.signOut(context.get("access"), getPeer(context));
  for (const cookie of cookies) context.header("set-cookie", cookie, { append: true });
  return context.body(null, 204);
}
