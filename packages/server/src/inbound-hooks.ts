import { randomUUID } from "node:crypto";
import type { HookConfig } from "@signalbox/config";
import type { Context } from "hono";
import type { Auth } from "./auth/index.ts";
import { apiErrors } from "./error-replies.ts";
import { fillTemplate } from "./fill-template.ts";
import { type Env, getPeer } from "./middleware.ts";
import type { GatewayService } from "./service.ts";

/** The configured hooks by name. */
export interface HookRoutes {
  readonly hooks: Readonly<Record<string, HookConfig>>;
  /** Agent of hooks that configure none. */
  readonly defaultAgent: string;
}

/** Maximum length of a text for an agent, in characters. */
const MAX_TEXT = 100_000;
/** Maximum length of a conversation name, in characters. */
const MAX_NAME = 200;
const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,200}$/;

interface HookContext {
  readonly service: GatewayService;
  readonly auth: Auth;
  readonly routes: HookRoutes;
}

/**
 * `POST /hooks/<name>`: passes a JSON body to an agent as a message. The caller must send the hook's secret, or an
 * owner's token if the hook has none.
 */
export async function callHook(
  context: Context<Env>,
  { service, auth, routes: { hooks, defaultAgent } }: HookContext,
): Promise<Response> {
  const { authorization } = context.req.header();
  const name = context.req.param("name") ?? "";
  const hook = Object.hasOwn(hooks, name) ? hooks[name] : undefined;
  // The secret is checked first, so that a stranger cannot find out which hooks exist.
  const result = await auth.checkSecret({ authorization, ...getPeer(context) }, hook?.secret);
  if (result.kind === "throttled") return apiErrors.throttled(context);
  if (result.kind === "refused") return apiErrors.wrongHookSecret(context);
  return hook === undefined
    ? apiErrors.notFound(context)
    : submitBody(context, service, name, { hook, defaultAgent });
}

/** Responds with 202 once the message is committed. Repeating an `Idempotency-Key` repeats the same message. */
async function submitBody(
  context: Context<Env>,
  service: GatewayService,
  name: string,
  { hook, defaultAgent }: { readonly hook: HookConfig; readonly defaultAgent: string },
): Promise<Response> {
  const raw = await context.req.text();
  const body = parseJson(raw);
  if (body === undefined) return apiErrors.badJson(context, "Send a JSON body.");
  const key = context.req.header("idempotency-key");
  if (key !== undefined && !IDEMPOTENCY_KEY.test(key))
    return apiErrors.badJson(context, "Send an Idempotency-Key of at most 200 visible ASCII characters.");
  const text = hook.text === undefined ? describeBody(name, raw) : fillTemplate(hook.text, body);
  if (text.trim() === "")
    return apiErrors.badJson(context, `The body lacks the fields that hooks.${name}.text refers to.`);
  if (text.length > MAX_TEXT) return apiErrors.tooLarge(context, MAX_TEXT);
  const session = fillTemplate(hook.session ?? "", body)
    .trim()
    .slice(0, MAX_NAME);
  const submitted = await service.submit({
    channel: "web",
    agent: hook.agent ?? defaultAgent,
    // Hooks have their own conversations, because a program must not write into those of people.
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

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Quotes the body unchanged, because pretty-printing deeply nested JSON can exhaust the memory. */
function describeBody(name: string, raw: string): string {
  return `The hook ${name} was called with:\n\n${raw.trim()}`;
}
