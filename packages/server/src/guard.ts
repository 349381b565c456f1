import type { HttpBindings } from "@hono/node-server";
import { SESSION_KEY_HEADER } from "@signalbox/protocol";
import type { Context, MiddlewareHandler, Next } from "hono";
import { bodyLimit } from "hono/body-limit";
import { type Access, type Auth, isFromOwnPage } from "./auth/index.ts";
import type { ErrorReplies } from "./error-replies.ts";

/** What the middlewares know of a request. */
export interface Env {
  readonly Bindings: HttpBindings;
  readonly Variables: {
    /** What the client has come in with, behind `signedIn`. */
    access: Access;
  };
}

/** How long what is left of a refused body is still read. */
const DRAIN_MS = 500;

/** Lets requests pass that were meant for this gateway, and come from its own page where a browser sends them. */
export function fromOwnPage(
  allowedHosts: () => ReadonlySet<string>,
  errors: ErrorReplies,
): MiddlewareHandler<Env> {
  return async (context, next) => {
    if (!isFromOwnPage(context.req.header(), allowedHosts())) return errors.wrongHost(context);
    await next();
    return undefined;
  };
}

/** Lets those pass who hold a token, or have signed in with one. */
export function signedIn(auth: Auth, errors: ErrorReplies): MiddlewareHandler<Env> {
  return async (context, next) => {
    const { authorization, cookie, [SESSION_KEY_HEADER]: sessionKey } = context.req.header();
    const from = { remote: remoteOf(context), port: portOf(context) };
    const result = await auth.check({ authorization, cookie, sessionKey, ...from });
    if (result.kind === "throttled") return errors.throttled(context);
    if (result.kind !== "granted") return errors.unauthorized(context);
    context.set("access", result.access);
    await next();
    return undefined;
  };
}

/** Lets owners pass, of those who are signed in. */
export function ownersOnly(errors: ErrorReplies): MiddlewareHandler<Env> {
  return async (context, next) => {
    if (context.get("access").principal.role !== "owner") return errors.forbidden(context);
    await next();
    return undefined;
  };
}

/** Takes JSON only, so that no form of another site can post. */
export function jsonOnly(errors: ErrorReplies): MiddlewareHandler<Env> {
  return async (context, next) => {
    const mutates = context.req.method !== "GET" && context.req.method !== "HEAD";
    if (mutates && typeOf(context) !== "application/json") return errors.notJson(context);
    await next();
    return undefined;
  };
}

/** Takes bytes of a file only, which no form of another site can send. */
export function bytesOnly(refuse: (context: Context) => Response): MiddlewareHandler<Env> {
  return async (context, next) => {
    if (typeOf(context) !== "application/octet-stream") return refuse(context);
    await next();
    return undefined;
  };
}

function typeOf(context: Context): string | undefined {
  return context.req.header("content-type")?.split(";")[0]?.trim().toLowerCase();
}

/** Refuses bodies of more than `maxBytes`. */
export function limitBody(maxBytes: number, errors: ErrorReplies): MiddlewareHandler<Env> {
  const counted = bodyLimit({ maxSize: maxBytes, onError: (context) => errors.tooLarge(context, maxBytes) });
  return async (context, next) => {
    const { "content-length": length, "transfer-encoding": encoding } = context.env.incoming.headers;
    // Node.js keeps a sender to the length it states: only a body of unknown length has to be counted as it comes,
    // which takes the web streams that all others do without.
    if (length === undefined || encoding !== undefined) return (await counted(context, next)) ?? undefined;
    if (Number(length) > maxBytes) return errors.tooLarge(context, maxBytes);
    await next();
    return undefined;
  };
}

/** What only its reader may see is kept by no cache on the way. */
export async function noStore(context: Context, next: Next): Promise<void> {
  // Ahead of the answer, which would have to be made anew to be changed.
  context.header("cache-control", "no-store");
  await next();
}

/**
 * A request that is answered before its body was read: the rest is read for a moment, so that its sender comes to see
 * the answer, and the connection is not used again.
 */
export async function readLeftovers(context: Context<Env>, next: Next): Promise<void> {
  await next();
  const { incoming } = context.env;
  if (incoming.complete || incoming.destroyed) return;
  // Whoever began to read the body would keep in memory what comes now.
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

/** The port it came in by. */
export function portOf(context: Context<Env>): number {
  return context.env.incoming.socket.localPort ?? 0;
}

/** The address of the peer. */
export function remoteOf(context: Context<Env>): string {
  return context.env.incoming.socket.remoteAddress ?? "";
}
