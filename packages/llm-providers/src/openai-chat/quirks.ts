import type { JsonObject, Model } from "@signalbox/agent-core";
import { entryOf } from "../shared/json.ts";
import { type QuirksOf, readQuirks } from "../shared/quirks.ts";
import dialects from "./dialects.json" with { type: "json" };

/**
 * What servers that speak the chat dialect do differently; usual is what any server takes that calls itself compatible.
 * A model's `quirks` may set each of these by name, on top of the dialect that `quirks.dialect` names or the base URL
 * gives away.
 */
const QUIRKS = {
  maxTokensField: ["max_tokens", "max_completion_tokens"],
  systemRole: ["system", "developer"],
  /** Whether `stream_options: { include_usage: true }` may be sent. Usage that never comes is estimated. */
  streamOptions: true,
  /** How a thinking level is told to the server: by an effort, or on and off only. */
  thinkingStyle: ["none", "reasoning_effort", "reasoning", "thinking", "enable_thinking", "template"],
  /** The vendor's word for a level under `reasoning_effort` and `reasoning`; by name where absent. */
  efforts: {},
  /** Which field carries earlier reasoning back to the server; `none` sends none. */
  reasoningField: ["none", "reasoning_content", "reasoning", "reasoning_details"],
  /** `turn` sends reasoning back only for what followed the person's last message, `all` for the whole history. */
  reasoningScope: ["turn", "all"],
  /** Whether reasoning may come as `<think>…</think>` at the start of the text. */
  thinkTags: true,
  /** Sent as `parallel_tool_calls` where set. */
  parallelToolCalls: [undefined, true, false],
  /** Sent as `strict` with each tool where set. */
  strictTools: [undefined, true, false],
  /** Whether `tool_choice` is understood. */
  toolChoice: true,
  /** Whether `tool_choice` may name a tool; else only that tool is offered, and required. */
  namedToolChoice: true,
  /** Where images of tool results go: into the tool message, or into a user message after the results. */
  toolResultImages: ["user", "tool"],
  /** Whether a user message may directly follow tool results; a short assistant message is put between otherwise. */
  userAfterTool: true,
  /** Whether the tool's name is repeated in its result. */
  toolResultName: false,
  /** Content of an assistant message that holds only tool calls. */
  emptyContent: ["empty", "null"],
  /** Whether a temperature and `top_p` are taken. */
  temperature: true,
  /** Whether stop sequences are taken. */
  stop: true,
  /** Whether the server can be told to answer with a JSON object, and with JSON of a schema. */
  jsonObject: true,
  jsonSchema: true,
  /** Whether `prompt_cache_key` and `prompt_cache_retention` are understood. */
  promptCacheKey: false,
  /** Whether Anthropic's `cache_control` marks are put on text parts; at OpenRouter by default for Claude models. */
  cacheControl: false,
  /** Sent with every request, before the caller's own extras; for instance `{ "reasoning_split": true }`. */
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
