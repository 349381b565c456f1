import type { Anthropic } from "@anthropic-ai/sdk";
import type { SystemPrompt } from "@signalbox/agent-core";
import type { ModelRequest } from "../provider/define-provider.ts";
import { unlessEmpty, withoutUndefined } from "../shared/json.ts";
import {
  askForJson,
  type CacheControl,
  cacheControl,
  outputTokens,
  samplingFor,
  THINKING_TOKENS,
  thinkingLevel,
} from "../shared/request.ts";
import { historyMessages, type WireMessage } from "./history.ts";
import { type AnthropicQuirks, anthropicQuirks } from "./quirks.ts";

/** Minimum thinking budget of the vendor, in tokens. */
const MIN_BUDGET = THINKING_TOKENS.minimal;

/** Converts a JSON Schema into one that the vendor accepts. Throws if that is impossible. */
export type SchemaTransformer =
  typeof import("@anthropic-ai/sdk/lib/transform-json-schema.js")["transformJSONSchema"];

export function requestParams(
  request: ModelRequest,
  transformSchema: SchemaTransformer,
): Anthropic.MessageCreateParamsStreaming {
  const { model, context, options } = request;
  const quirks = anthropicQuirks(model);
  const { maxTokens, thinks, thinking, effort } = planThinking(request, quirks);
  const cache = cacheControl(options);
  const format = outputFormat(request, quirks, transformSchema);
  const { json } = options;
  const system = json === undefined || format !== undefined ? context.system : askForJson(request, json);
  const messages = historyMessages(context.messages, quirks);
  const last = context.messages.at(-1);
  if (last?.role === "assistant" && last.stopReason !== "pause" && !quirks.prefill)
    messages.push({ role: "user", content: [{ type: "text", text: "(continue)" }] });
  if (cache !== undefined) markForCache(messages, cache);
  return {
    model: model.id,
    max_tokens: maxTokens,
    stream: true,
    ...withoutUndefined({
      system: unlessEmpty(systemBlocks(system, cache)),
      ...toolFields(request, cache, thinks || !quirks.forcedTools),
      thinking,
      output_config: unlessEmpty(withoutUndefined({ effort, format })),
      ...samplingParams(request, quirks.temperature && !thinks),
      stop_sequences: stopSequences(request),
    }),
    messages,
    ...options.extra,
  };
}

interface ThinkingPlan {
  readonly maxTokens: number;
  /** True if the model will think, which precludes a forced tool and a temperature. */
  readonly thinks: boolean;
  readonly thinking?: Anthropic.ThinkingConfigParam;
  readonly effort?: Anthropic.OutputConfig["effort"];
}

function planThinking(request: ModelRequest, quirks: AnthropicQuirks): ThinkingPlan {
  const { options, warn } = request;
  let level = thinkingLevel(request) ?? "off";
  const forced = options.toolChoice === "required" || typeof options.toolChoice === "object";
  if (level !== "off" && forced && !quirks.thinkingAlwaysOn) {
    warn(
      "thinking_dropped",
      "The vendor does not think when a tool is forced: thinking is off for this turn.",
    );
    level = "off";
  }
  // Thinking counts toward `max_tokens`.
  const maxTokens = outputTokens(request, level);
  const { thinkingOff } = quirks;
  if (level === "off")
    return { maxTokens, thinks: false, thinking: thinkingOff ? { type: thinkingOff } : undefined };
  if (quirks.thinking === "adaptive") {
    const display = quirks.thinkingDisplay ? { display: "summarized" as const } : {};
    const effort = level === "minimal" ? "low" : level;
    return { maxTokens, thinks: true, thinking: { type: "adaptive", ...display }, effort };
  }
  const budget = Math.min(THINKING_TOKENS[level], maxTokens - MIN_BUDGET);
  if (budget >= MIN_BUDGET)
    return { maxTokens, thinks: true, thinking: { type: "enabled", budget_tokens: budget } };
  warn("thinking_dropped", `${maxTokens} output tokens leave no room to think.`);
  return { maxTokens, thinks: false };
}

/** The API accepts either a temperature or `top_p`. Both default to 1. The SDK's types no longer declare them. */
function samplingParams(request: ModelRequest, isTaken: boolean) {
  const { temperature = 1, topP = 1, ...rest } = request.options;
  const unusual = {
    temperature: temperature !== 1 ? temperature : undefined,
    topP: topP !== 1 ? topP : undefined,
  };
  const one = temperature === 1 ? "top_p" : "temperature";
  return samplingFor({ ...request, options: { ...rest, ...unusual } }, isTaken ? [one] : []);
}

/** The API rejects blank stop sequences. */
function stopSequences({ options: { stopSequences: all = [] }, warn }: ModelRequest): string[] | undefined {
  const taken = all.filter((stop) => stop.trim() !== "");
  const dropped = all.length - taken.length;
  if (dropped > 0)
    warn("stop_dropped", `${dropped} stop sequence(s) were left out: Anthropic takes no blank ones.`);
  return unlessEmpty(taken);
}

/**
 * Returns the vendor's option for JSON output, or `undefined` if JSON is not requested or the vendor does not accept
 * the schema.
 */
function outputFormat(
  { options }: ModelRequest,
  quirks: AnthropicQuirks,
  transformSchema: SchemaTransformer,
) {
  const { json } = options;
  try {
    if (json?.schema !== undefined && quirks.jsonSchema)
      return { type: "json_schema" as const, schema: transformSchema(json.schema) };
  } catch {
    // The vendor would reject this schema.
  }
  return undefined;
}

/** The system prompt, with a cache breakpoint after its stable part. */
function systemBlocks(
  { stable, volatile = "" }: SystemPrompt,
  cache: CacheControl | undefined,
): Anthropic.TextBlockParam[] {
  const blocks: Anthropic.TextBlockParam[] = [
    { type: "text", text: stable, cache_control: cache },
    { type: "text", text: volatile },
  ];
  return blocks.filter(({ text }) => text.trim() !== "");
}

/** The tools, with a cache breakpoint on the last one, and the tool choice. */
function toolFields(request: ModelRequest, cache: CacheControl | undefined, unforced: boolean) {
  const { tools: specs, messages } = request.context;
  // The API requires declarations for all calls in the history, even if no tools are currently offered.
  if (specs.length === 0) {
    const past = messages.flatMap((message) => (message.role === "assistant" ? message.content : []));
    const names = new Set(past.flatMap((block) => (block.type === "toolCall" ? [block.name] : [])));
    if (names.size === 0) return {};
    const tools = [...names].map((name): Anthropic.Tool => ({ name, input_schema: { type: "object" } }));
    return { tools, tool_choice: { type: "none" } as const };
  }
  const tools = specs.map(({ name, description, inputSchema }, at): Anthropic.Tool => {
    const mark = cache && at === specs.length - 1 ? { cache_control: cache } : {};
    return { name, description, input_schema: { ...inputSchema, type: "object" }, ...mark };
  });
  return { tools, tool_choice: toolChoice(request, unforced) };
}

function toolChoice({ options, warn }: ModelRequest, unforced: boolean): Anthropic.ToolChoice | undefined {
  const { toolChoice } = options;
  if (toolChoice === undefined || toolChoice === "auto") return undefined;
  if (toolChoice === "none") return { type: "none" };
  if (unforced) {
    warn("tool_choice_dropped", "This model cannot be forced to call a tool; it decides by itself.");
    return undefined;
  }
  return toolChoice === "required" ? { type: "any" } : { type: "tool", name: toolChoice.name };
}

/**
 * Sets two cache breakpoints, at the end of the last two user messages. The first finds the cache entry of the previous
 * request, and the second caches this request for the next one.
 */
function markForCache(messages: readonly WireMessage[], cache_control: CacheControl): void {
  for (const { content } of messages.filter(({ role }) => role === "user").slice(-2)) {
    const last = content.at(-1);
    if (last !== undefined) content[content.length - 1] = Object.assign({}, last, { cache_control });
  }
}
