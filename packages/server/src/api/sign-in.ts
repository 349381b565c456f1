import { LoginRequest } from "@signalbox/protocol";
import type { Context } from "hono";
import type { Auth, Session } from "../auth/index.ts";
import { apiErrors } from "./errors.ts";

/** `POST /api/login`: trades the gateway's token for a session cookie. */
export async function signIn(context: Context, auth: Auth, remote: string): Promise<Response> {
  const body = LoginRequest.safeParse(await context.req.json().catch(() => undefined));
  if (!body.success) return apiErrors.badJson(context, 'Send {"token": "…"}.');
  const result = auth.signIn(body.data.token, remote);
  if (result.kind === "throttled") return apiErrors.throttled(context);
  if (result.cookie === undefined) return apiErrors.unauthorized(context);
  context.header("set-cookie", result.cookie);
  return context.body(null, 204);
}

/** `POST /api/logout`: ends the session here, not in the browser alone, with every socket that it opened. */
export async function signOut(context: Context, auth: Auth, session: Session | undefined): Promise<Response> {
  context.header("set-cookie", await auth.signOut(session));
  return context.body(null, 204);
}
