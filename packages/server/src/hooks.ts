import { randomUUID } from "node:crypto";
import type { HookConfig } from "@signalbox/config";
import type { Context } from "hono";
import { apiErrors } from "./api/errors.ts";
import type { Auth } from "./auth/index.ts";
import { type Env, portOf, remoteOf } from "./guard.ts";
import type { GatewayService } from "./service.ts";
import { fillIn } from "./template.ts";

/** What programs may have agents do, by name. */
export interface HookRoutes {
  readonly hooks: Readonly<Record<string, HookConfig>>;
  readonly defaultAgent: string;
}

/** Characters of what an agent is told, and of a conversation's name. */
const MAX_TEXT = 100_000;
const MAX_NAME = 200;
const KEY = /^[\x21-\x7e]{1,200}$/;

/** `POST /hooks/<name>`, for holders of the hook's secret, or of an owner's token if it has none. */
export async function hookRoute(
  context: Context<Env>,
  { service, auth, routes: { hooks, defaultAgent } }: HookRouteOptions,
): Promise<Response> {
  const { authorization } = context.req.header();
  const name = context.req.param("name") ?? "";
  const hook = Object.hasOwn(hooks, name) ? hooks[name] : undefined;
  // Who may not call it does not hear whether it is there.
  const from = { authorization, remote: remoteOf(context), port: portOf(context) };
  const result = await auth.checkSecret(from, hook?.secret);
  if (result.kind === "throttled") return apiErrors.throttled(context);
  if (result.kind === "refused") return apiErrors.wrongHookSecret(context);
  return hook === undefined
    ? apiErrors.notFound(context)
    : callHook(context, service, name, { hook, defaultAgent });
}

export interface HookRouteOptions {
  readonly service: GatewayService;
  readonly auth: Auth;
  readonly routes: HookRoutes;
}

/** 202 after the message is committed; the same `Idempotency-Key` again is the same message. */
async function callHook(
  context: Context<Env>,
  service: GatewayService,
  name: string,
  { hook, defaultAgent }: { readonly hook: HookConfig; readonly defaultAgent: string },
): Promise<Response> {
  const raw = await context.req.text();
  const body = parsed(raw);
  if (body === undefined) return apiErrors.badJson(context, "Send a JSON body.");
  const key = context.req.header("idempotency-key");
  if (key !== undefined && !KEY.test(key))
    return apiErrors.badJson(context, "Send an Idempotency-Key of at most 200 visible characters.");
  const text = hook.text === undefined ? wholeBody(name, raw) : fillIn(hook.text, body);
  if (text.trim() === "")
    return apiErrors.badJson(context, `The body lacks what hooks.${name}.text refers to.`);
  if (text.length > MAX_TEXT) return apiErrors.tooLarge(context, MAX_TEXT);
  const session = fillIn(hook.session ?? "", body)
    .trim()
    .slice(0, MAX_NAME);
  const submitted = await service.submit({
    channel: "web",
    agent: hook.agent ?? defaultAgent,
    // A conversation of its own: what a program sends must not reach into what people talk about.
    conversation: session === "" ? `hook:${name}` : `hook:${name}:${session}`,
    id: `hook:${name}:${key ?? randomUUID()}`,
    text,
    from: `hook ${name}`,
  });
  if (submitted.kind === "refused") {
    context.header("retry-after", "1");
    return apiErrors.unavailable(context, submitted.message);
  }
  const { kind, messageId } = submitted;
  return context.json({ status: kind, messageId }, 202);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** As it came: written anew with indentation, a small body of many levels would fill the memory. */
function wholeBody(name: string, raw: string): string {
  return `The hook ${name} was called with:\n\n${raw.trim()}`;
}
