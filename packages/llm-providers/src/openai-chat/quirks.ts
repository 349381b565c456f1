import type { JsonObject, Model, ThinkingLevel } from "@signalbox/agent-core";
import { entryOf, isRaw } from "../shared/json.ts";
import { choice, efforts, flag, type QuirkTable, readQuirks } from "../shared/quirks.ts";

/** How a thinking level is told to the server. */
export type ThinkingStyle =
  /** `reasoning_effort: "low"`. */
  | "reasoning_effort"
  /** `reasoning: { effort }`, or `{ enabled: false }`. */
  | "reasoning"
  /** `thinking: { type: "enabled" | "disabled" }`. */
  | "thinking"
  /** `enable_thinking: true | false`. */
  | "enable_thinking"
  /** `chat_template_kwargs: { enable_thinking: true | false }`. */
  | "template"
  | "none";

/**
 * What a server that speaks the chat dialect does differently. A model's `quirks` may set each of these by name, on
 * top of the dialect that `quirks.dialect` names or the base URL gives away.
 */
export interface ChatQuirks {
  readonly maxTokensField: "max_tokens" | "max_completion_tokens";
  readonly systemRole: "developer" | "system";
  /** Whether `stream_options: { include_usage: true }` may be sent. Usage that never comes is estimated. */
  readonly streamOptions: boolean;
  readonly thinkingStyle: ThinkingStyle;
  /** The vendor's word for a level under `reasoning_effort` and `reasoning`; by name where absent. */
  readonly efforts: Readonly<Partial<Record<ThinkingLevel, string>>>;
  /** Which field carries earlier reasoning back to the server; `none` sends none. */
  readonly reasoningField: "none" | "reasoning_content" | "reasoning" | "reasoning_details";
  /** `turn` sends reasoning back only for what followed the person's last message, `all` for the whole history. */
  readonly reasoningScope: "turn" | "all";
  /** Whether reasoning may come as `<think>…</think>` at the start of the text. */
  readonly thinkTags: boolean;
  /** Sent as `parallel_tool_calls` where set. */
  readonly parallelToolCalls: boolean | undefined;
  /** Sent as `strict` with each tool where set. */
  readonly strictTools: boolean | undefined;
  /** Whether `tool_choice` is understood. */
  readonly toolChoice: boolean;
  /** Whether `tool_choice` may name a tool; else only that tool is offered, and required. */
  readonly namedToolChoice: boolean;
  /** Where images of tool results go: into the tool message, or into a user message after the results. */
  readonly toolResultImages: "tool" | "user";
  /** Whether a user message may directly follow tool results; a short assistant message is put between otherwise. */
  readonly userAfterTool: boolean;
  /** Whether the tool's name is repeated in its result. */
  readonly toolResultName: boolean;
  /** Content of an assistant message that holds only tool calls. */
  readonly emptyContent: "null" | "empty";
  /** Whether a temperature and `top_p` are taken. */
  readonly temperature: boolean;
  /** Whether stop sequences are taken. */
  readonly stop: boolean;
  /** Whether the server can be told to answer with a JSON object, and with JSON of a schema. */
  readonly jsonObject: boolean;
  readonly jsonSchema: boolean;
  /** Whether `prompt_cache_key` and `prompt_cache_retention` are understood. */
  readonly promptCacheKey: boolean;
  /** Whether Anthropic's `cache_control` marks are put on text parts; at OpenRouter by default for Claude models. */
  readonly cacheControl: boolean;
  /** Sent with every request, before the caller's own extras; for instance `{ "reasoning_split": true }`. */
  readonly body: JsonObject;
}

/** With what any server takes that calls itself compatible. */
const QUIRKS: QuirkTable<ChatQuirks> = {
  maxTokensField: choice("max_tokens", "max_completion_tokens"),
  systemRole: choice("system", "developer"),
  streamOptions: flag(true),
  thinkingStyle: choice("none", "reasoning_effort", "reasoning", "thinking", "enable_thinking", "template"),
  efforts: efforts({}),
  reasoningField: choice("none", "reasoning_content", "reasoning", "reasoning_details"),
  reasoningScope: choice("turn", "all"),
  thinkTags: flag(true),
  parallelToolCalls: flag(undefined),
  strictTools: flag(undefined),
  toolChoice: flag(true),
  namedToolChoice: flag(true),
  toolResultImages: choice("user", "tool"),
  userAfterTool: flag(true),
  toolResultName: flag(false),
  emptyContent: choice("empty", "null"),
  temperature: flag(true),
  stop: flag(true),
  jsonObject: flag(true),
  jsonSchema: flag(true),
  promptCacheKey: flag(false),
  cacheControl: flag(false),
  body: { usual: {}, read: (given, base) => (isRaw(given) ? given : base) },
};

/** The dialects known by name. */
export const chatDialects: Readonly<Record<string, Partial<ChatQuirks>>> = {
  openai: {
    maxTokensField: "max_completion_tokens",
    systemRole: "developer",
    thinkingStyle: "reasoning_effort",
    efforts: { off: "none", max: "xhigh" },
    thinkTags: false,
    emptyContent: "null",
    promptCacheKey: true,
  },
  ollama: {
    thinkingStyle: "reasoning_effort",
    efforts: { off: "none", minimal: "low", max: "high" },
    toolChoice: false,
  },
  vllm: { thinkingStyle: "template" },
  // lmstudio-ai/lmstudio-bug-tracker#670 and #189
  lmstudio: { namedToolChoice: false, jsonObject: false },
  deepseek: {
    thinkingStyle: "thinking",
    reasoningField: "reasoning_content",
    thinkTags: false,
    jsonSchema: false,
  },
  kimi: {
    thinkingStyle: "thinking",
    reasoningField: "reasoning_content",
    reasoningScope: "all",
    thinkTags: false,
  },
  minimax: {
    body: { reasoning_split: true },
    reasoningField: "reasoning_details",
    reasoningScope: "all",
    toolResultName: true,
  },
  qwen: { thinkingStyle: "enable_thinking", thinkTags: false },
  openrouter: {
    thinkingStyle: "reasoning",
    efforts: { off: "none", max: "xhigh" },
    reasoningField: "reasoning_details",
    reasoningScope: "all",
    thinkTags: false,
  },
  groq: {
    maxTokensField: "max_completion_tokens",
    thinkingStyle: "reasoning_effort",
    efforts: { off: "none", minimal: "low", max: "high" },
    thinkTags: false,
  },
  compatible: {},
};

const HOSTS: readonly [pattern: RegExp, dialect: string][] = [
  [/(^|\.)openai\.com$/, "openai"],
  [/(^|\.)deepseek\.com$/, "deepseek"],
  [/(^|\.)moonshot\.(cn|ai)$/, "kimi"],
  [/(^|\.)minimaxi?\.(com|io|chat)$/, "minimax"],
  [/(^|\.)aliyuncs\.com$/, "qwen"],
  [/(^|\.)openrouter\.ai$/, "openrouter"],
  [/(^|\.)groq\.com$/, "groq"],
];
const PORTS: Readonly<Record<string, string>> = { "11434": "ollama", "1234": "lmstudio", "8000": "vllm" };

/** The dialect an address gives away: a vendor's host, or the usual port of a local server. */
export function dialectOf(baseUrl: string): string {
  if (!URL.canParse(baseUrl)) return "compatible";
  const { hostname, port } = new URL(baseUrl);
  const host = HOSTS.find(([pattern]) => pattern.test(hostname));
  return host?.[1] ?? entryOf(PORTS, port) ?? "compatible";
}

/** The quirks of `model` at `baseUrl`: the dialect's, changed by what the model itself declares. */
export function chatQuirks(model: Model, baseUrl: string): ChatQuirks {
  const { dialect } = model.quirks ?? {};
  const name = typeof dialect === "string" ? dialect : dialectOf(baseUrl);
  return readQuirks(QUIRKS, model.quirks, { ...entryOf(chatDialects, name), ...byModel(name, model) });
}

/** What a dialect knows of some models only. */
function byModel(dialect: string, { id, thinking }: Model): Partial<ChatQuirks> {
  switch (dialect) {
    case "openai":
      // What reasoning models refuse, and what older ones do not know.
      return thinking.length > 0 ? { temperature: false, stop: false } : { systemRole: "system" };
    case "openrouter":
      // Others there cache by themselves.
      return { cacheControl: /claude/i.test(id) };
    default:
      return {};
  }
}
