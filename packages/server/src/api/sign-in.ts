import { LoginRequest, type SignedIn, type SignInLink } from "@signalbox/protocol";
import type { Context } from "hono";
import type { Auth } from "../auth/index.ts";
import { type Env, portOf, remoteOf } from "../guard.ts";
import { apiErrors } from "./errors.ts";

/**
 * `POST /api/login`: trades a token, or the secret of a sign-in link, for a session:
 * half of it in a cookie, half in the body.
 */
export async function signIn(context: Context<Env>, auth: Auth): Promise<Response> {
  const request = LoginRequest.safeParse(await context.req.json().catch(() => undefined));
  if (!request.success) return apiErrors.badJson(context, 'Send {"token": "…"}.');
  const result = await auth.signIn(request.data.token, {
    remote: remoteOf(context),
    port: portOf(context),
    // A browser names its page; what ends the TLS in front of the gateway need not say anything.
    secure: context.req.header("origin")?.startsWith("https:") === true,
  });
  if (result.kind === "throttled") return apiErrors.throttled(context);
  if (result.kind !== "signed-in") return apiErrors.unauthorized(context);
  context.header("set-cookie", result.cookie);
  const body: SignedIn = { sessionKey: result.sessionKey };
  return context.json(body);
}

/**
 * `POST /api/sign-in-links`: for whoever sends an owner's token itself. A session makes none, since
 * what signs in by the link would outlive it.
 */
export function makeSignInLink(context: Context<Env>, auth: Auth): Response {
  const access = context.get("access");
  if (access.session !== undefined) return apiErrors.forbidden(context);
  const link: SignInLink = auth.issueLink(access);
  return context.json(link);
}

/** `POST /api/logout`: ends the session here, not in the browser alone, with every socket that it opened. */
export async function signOut(context: Context<Env>, auth: Auth): Promise<Response> {
  const cookies = await auth.signOut(context.get("access"), {
    remote: remoteOf(context),
    port: portOf(context),
  });
  for (const cookie of cookies) context.header("set-cookie", cookie, { append: true });
  return context.body(null, 204);
}
