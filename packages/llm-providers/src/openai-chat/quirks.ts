import type { JsonObject, Model } from "@signalbox/agent-core";
import { entryOf } from "../shared/json.ts";
import { type QuirksOf, readQuirks } from "../shared/quirks.ts";
import dialects from "./dialects.json" with { type: "json" };

/**
 * What servers that speak the chat dialect do differently; the first of each is what any server takes that calls itself
 * compatible. QUIRKS.md says what each means.
 */
const QUIRKS = {
  maxTokensField: ["max_tokens", "max_completion_tokens"],
  systemRole: ["system", "developer"],
  streamOptions: true,
  thinkingStyle: ["none", "reasoning_effort", "reasoning", "thinking", "enable_thinking", "template"],
  efforts: {},
  reasoningField: ["none", "reasoning_content", "reasoning", "reasoning_details"],
  reasoningScope: ["turn", "all"],
  reasoningPlaceholder: ["never", "calls", "always"],
  thinkTags: true,
  startsThinking: false,
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

/** A dialect: the vendor's hosts or the usual port of a local server, and the quirks that are not the usual ones. */
interface Dialect {
  readonly hosts?: readonly string[];
  readonly port?: string;
  readonly quirks: JsonObject;
}

/** The dialects known by name. */
export const chatDialects: Readonly<Record<string, Dialect>> = dialects;

/** The dialect an address gives away. */
export function dialectOf(baseUrl: string): string {
  const { hostname, port } = URL.canParse(baseUrl) ? new URL(baseUrl) : { hostname: "", port: "" };
  const found = Object.entries(chatDialects).find(
    ([, { hosts = [], port: usual }]) =>
      hosts.some((host) => `.${hostname}`.endsWith(`.${host}`)) || (port !== "" && port === usual),
  );
  return found?.[0] ?? "compatible";
}

/** The quirks of `model` at `baseUrl`: the dialect's, changed by what the model itself declares. */
export function chatQuirks(model: Model, baseUrl: string): ChatQuirks {
  const { dialect } = model.quirks ?? {};
  const name = typeof dialect === "string" ? dialect : dialectOf(baseUrl);
  return readQuirks(QUIRKS, entryOf(chatDialects, name)?.quirks, byModel(name, model), model.quirks);
}

/** What a dialect knows of some models only. */
function byModel(dialect: string, { id, thinking }: Model): JsonObject {
  // What OpenAI's reasoning models refuse, and what older ones do not know.
  if (dialect === "openai")
    return thinking.length > 0 ? { temperature: false, stop: false } : { systemRole: "system" };
  // Others at OpenRouter cache by themselves.
  return dialect === "openrouter" ? { cacheControl: /claude/i.test(id) } : {};
}
