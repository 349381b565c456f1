import {
  LoginRequest,
  type SignedIn,
  type SignedOut,
  type SignInLink,
  type SignInList,
  type SignInMethods,
} from "@signalbox/protocol";
import { type Context, Hono } from "hono";
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
  return respond(context, await auth.browsers.signIn(request.data.token, getBrowser(context)));
}

/** `GET /api/sign-in-methods`: the sign-ins that a browser can use. */
export function getSignInMethods(context: Context<Env>, auth: Auth): SignInMethods {
  return auth.browsers.getMethods(getBrowser(context));
}

/** `POST /api/login/proxy`: opens a session for the user whom a trusted proxy names in the headers of the request. */
export async function signInByProxy(context: Context<Env>, auth: Auth): Promise<Response> {
  return respond(context, await auth.browsers.signInByProxy(getBrowser(context)));
}

/**
 * `POST /api/sign-in-links`: creates a link for the holder of an owner's token. A session cannot create one, because
 * the session that the link opens would outlive it.
 */
export async function createSignInLink(context: Context<Env>, auth: Auth): Promise<Response> {
  const access = context.get("access");
  // An access token of the provider cannot either, because it expires soon.
  if (access.session !== undefined || access.expiresAt !== undefined) return apiErrors.forbidden(context);
  const link: SignInLink = await auth.issueLink(access);
  return context.json(link);
}

/** `POST /api/logout`: ends the session on the server and closes every socket that it opened. */
export async function signOut(context: Context<Env>, auth: Auth): Promise<Response> {
  const { cookies, url } = await auth.browsers.signOut(context.get("access"), getPeer(context));
  for (const cookie of cookies) context.header("set-cookie", cookie, { append: true });
  const body: SignedOut = { ...(url === undefined ? {} : { url }) };
  return context.json(body);
}

/** The routes of `/api/sign-ins`: the browsers that are signed in. */
export function signInRoutes(auth: Auth): Hono<Env> {
  const app = new Hono<Env>();
  app.get("/", async (context) => {
    const current = context.get("access").session?.id;
    const signIns = await auth.browsers.list();
    const list: SignInList = {
      signIns: signIns.map((signIn) => (signIn.id === current ? { ...signIn, isCurrent: true } : signIn)),
    };
    return context.json(list);
  });
  app.post("/:id/end", async (context) => {
    const isEnded = await auth.browsers.end(context.req.param("id"));
    return isEnded ? context.body(null, 204) : apiErrors.missing(context, "session with this id");
  });
  return app;
}

type Browser = Parameters<Auth["browsers"]["signInByProxy"]>[0];

function getBrowser(context: Context<Env>): Browser {
  return {
    ...getPeer(context),
    headers: context.env.incoming.headersDistinct,
    // The origin of the page shows HTTPS even if the proxy that terminates TLS sends no header about it.
    secure: context.req.header("origin")?.startsWith("https:") === true,
  };
}

function respond(context: Context<Env>, result: Awaited<ReturnType<Auth["browsers"]["signIn"]>>): Response {
  if (result.kind === "throttled") return apiErrors.throttled(context);
  if (result.kind === "no_role") return apiErrors.noRole(context);
  if (result.kind !== "signed_in") return apiErrors.unauthorized(context);
  context.header("set-cookie", result.cookie);
  const body: SignedIn = { sessionKey: result.sessionKey };
  return context.json(body);
}
