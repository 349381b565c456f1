import type { HttpBindings } from "@hono/node-server";
import { type Scope, SESSION_KEY_HEADER } from "@signalbox/protocol";
import type { Context, MiddlewareHandler, Next } from "hono";
import { bodyLimit } from "hono/body-limit";
import { type Access, type Auth, hasScope, isFromOwnPage } from "./auth/index.ts";
import type { ErrorReplies } from "./error-replies.ts";

/** Hono's environment: Node.js request objects, and what middleware adds to a request. */
export interface Env {
  readonly Bindings: HttpBindings;
  readonly Variables: {
    /** Set by `requireAuth`. */
    access: Access;
  };
}

/** Time limit for reading the rest of a refused body, in milliseconds. */
const DRAIN_MS = 500;

/** Refuses requests for another host and browser requests from pages of another origin. */
export function requireOwnOrigin(
  allowedHosts: () => ReadonlySet<string>,
  errors: ErrorReplies,
): MiddlewareHandler<Env> {
  return async (context, next) => {
    if (!isFromOwnPage(context.req.header(), allowedHosts())) return errors.wrongHost(context);
    await next();
    return undefined;
  };
}

/** Refuses requests without a valid token or session. */
export function requireAuth(auth: Auth, errors: ErrorReplies): MiddlewareHandler<Env> {
  return async (context, next) => {
    const result = await auth.check(getCredentials(context));
    if (result.kind === "throttled") return errors.throttled(context);
    if (result.kind !== "granted") return errors.unauthorized(context);
    context.set("access", result.access);
    await next();
    return undefined;
  };
}

/** Refuses requests that may not read the metrics. */
export function requireMonitoring(auth: Auth, errors: ErrorReplies): MiddlewareHandler<Env> {
  return async (context, next) => {
    const result = await auth.checkMonitoring(getCredentials(context));
    if (result === "throttled") return errors.throttled(context);
    if (result === "forbidden") return errors.forbidden(context);
    if (result === "refused") return errors.unauthorized(context);
    await next();
    return undefined;
  };
}

function getCredentials(context: Context<Env>): Parameters<Auth["check"]>[0] {
  const { headersDistinct: headers } = context.env.incoming;
  const { authorization, cookie } = context.env.incoming.headers;
  const sessionKey = context.req.header(SESSION_KEY_HEADER);
  return { authorization, cookie, sessionKey, headers, ...getPeer(context) };
}

/** Refuses tokens without a scope. Comes after `requireAuth`. */
export function requireScope(scope: Scope, errors: ErrorReplies): MiddlewareHandler<Env> {
  return async (context, next) => {
    if (!hasScope(context.get("access").principal, scope)) return errors.forbidden(context);
    await next();
    return undefined;
  };
}

/** Accepts only JSON bodies. HTML forms cannot send them, so a page of another site cannot post one without CORS. */
export function requireJson(errors: ErrorReplies): MiddlewareHandler<Env> {
  return async (context, next) => {
    const mutates = context.req.method !== "GET" && context.req.method !== "HEAD";
    if (mutates && getContentType(context) !== "application/json") return errors.notJson(context);
    await next();
    return undefined;
  };
}

/** Accepts only `application/octet-stream`, which HTML forms cannot send either. */
export function requireBytes(refuse: (context: Context) => Response): MiddlewareHandler<Env> {
  return async (context, next) => {
    if (getContentType(context) !== "application/octet-stream") return refuse(context);
    await next();
    return undefined;
  };
}

function getContentType(context: Context): string | undefined {
  return context.req.header("content-type")?.split(";")[0]?.trim().toLowerCase();
}

/** Refuses bodies larger than `maxBytes`. */
export function limitBody(maxBytes: number, errors: ErrorReplies): MiddlewareHandler<Env> {
  const counted = bodyLimit({ maxSize: maxBytes, onError: (context) => errors.tooLarge(context, maxBytes) });
  return async (context, next) => {
    const { "content-length": length, "transfer-encoding": encoding } = context.env.incoming.headers;
    // Node.js enforces `Content-Length`. Only a body without a length must be counted while it is read, which requires
    // a web stream.
    if (length === undefined || encoding !== undefined) return (await counted(context, next)) ?? undefined;
    if (Number(length) > maxBytes) return errors.tooLarge(context, maxBytes);
    await next();
    return undefined;
  };
}

/** Forbids caches to store the response. */
export async function noStore(context: Context, next: Next): Promise<void> {
  // Set before the response exists. Setting a header later would copy the response.
  context.header("cache-control", "no-store");
  await next();
}

/**
 * Discards the rest of a body for up to 500 ms if the response was ready before the body was read, and then closes the
 * connection. Without this, a client that is still sending gets a connection reset instead of the response.
 */
export async function drainBody(context: Context<Env>, next: Next): Promise<void> {
  await next();
  const { incoming } = context.env;
  if (incoming.complete || incoming.destroyed) return;
  // A reader that was already attached would buffer the rest in memory.
  incoming.removeAllListeners("data");
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, DRAIN_MS);
    const done = (): void => {
      clearTimeout(timer);
      resolve();
    };
    incoming.once("end", done).once("close", done).resume();
  });
  context.header("connection", "close");
}

/** The address of the peer, and the local port that received the request. */
export function getPeer(context: Context<Env>): { readonly remote: string; readonly port: number } {
  const { remoteAddress = "", localPort = 0 } = context.env.incoming.socket;
  return { remote: remoteAddress, port: localPort };
}
