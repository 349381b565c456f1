import type { JsonObject, Model } from "@signalbox/agent-core";
import { entryOf } from "../shared/json.ts";
import { type QuirksOf, readQuirks } from "../shared/quirks.ts";
import dialects from "./dialects.json" with { type: "json" };

/** The quirks of servers with this API. The first value is the default. QUIRKS.md describes the quirks. */
const QUIRKS = {
  maxTokensField: ["max_tokens", "max_completion_tokens"],
  systemRole: ["system", "developer"],
  alternateRoles: false,
  streamOptions: true,
  thinkingStyle: ["none", "reasoning_effort", "reasoning", "thinking", "enable_thinking", "template"],
  efforts: {},
  reasoningField: ["none", "reasoning_content", "reasoning", "reasoning_details"],
  reasoningScope: ["turn", "all"],
  reasoningPlaceholder: ["never", "calls", "always"],
  thinkTags: true,
  startsThinking: [undefined, true, false],
  textCalls: true,
  parallelToolCalls: [undefined, true, false],
  strictTools: [undefined, true, false],
  toolChoice: true,
  namedToolChoice: true,
  toolResultImages: ["user", "tool"],
  userAfterTool: true,
  toolResultName: false,
  emptyContent: ["empty", "null"],
  temperature: true,
  stop: true,
  jsonObject: true,
  jsonSchema: true,
  promptCacheKey: false,
  cacheControl: false,
  body: null,
} as const;

export type ChatQuirks = QuirksOf<typeof QUIRKS>;

/**
 * A dialect: the vendor's hosts or the default port of a local server, and the quirks that differ from the defaults.
 */
interface Dialect {
  readonly hosts?: readonly string[];
  readonly port?: string;
  readonly quirks: JsonObject;
}

export const chatDialects: Readonly<Record<string, Dialect>> = dialects;

/** Returns the name of the dialect for a base URL. */
export function dialectOf(baseUrl: string): string {
  const { hostname, port } = URL.canParse(baseUrl) ? new URL(baseUrl) : { hostname: "", port: "" };
  const found = Object.entries(chatDialects).find(
    ([, { hosts = [], port: usual }]) =>
      hosts.some((host) => `.${hostname}`.endsWith(`.${host}`)) || (port !== "" && port === usual),
  );
  return found?.[0] ?? "compatible";
}

/** Returns the quirks of `model` at `baseUrl`. The model's own quirks override those of the dialect. */
export function chatQuirks(model: Model, baseUrl: string): ChatQuirks {
  const { dialect } = model.quirks ?? {};
  const name = typeof dialect === "string" ? dialect : dialectOf(baseUrl);
  return readQuirks(QUIRKS, entryOf(chatDialects, name)?.quirks, byModel(name, model), model.quirks);
}

/** Returns the quirks of certain models of a dialect. */
function byModel(dialect: string, { id, thinking }: Model): JsonObject {
  // Reasoning models reject some fields, and older models do not support the developer role.
  if (dialect === "openai")
    return thinking.length > 0 ? { temperature: false, stop: false } : { systemRole: "system" };
  // OpenRouter caches automatically for other models.
  return dialect === "openrouter" ? { cacheControl: /claude/i.test(id) } : {};
}
