import type {
  CacheControlEphemeral,
  JSONOutputFormat,
  MessageCreateParamsStreaming,
  OutputConfig,
  TextBlockParam,
  ThinkingConfigParam,
  Tool,
  ToolChoice,
} from "@anthropic-ai/sdk/resources/messages";
import type {
  JsonObject,
  Message,
  StreamOptions,
  SystemPrompt,
  ThinkingLevel,
  ToolSpec,
} from "@signalbox/agent-core";
import type { ModelRequest } from "../provider/define-provider.ts";
import { stated } from "../shared/json.ts";
import { samplingFor } from "../shared/sampling.ts";
import { outputTokens, THINKING_TOKENS, thinkingLevel } from "../shared/thinking.ts";
import { historyMessages, type MessageParts, messageJson, partOf } from "./history.ts";
import { anthropicQuirks } from "./quirks.ts";

/** The least the vendor lets a model think with, in tokens. */
const MIN_BUDGET = THINKING_TOKENS.minimal;

const EFFORTS: Readonly<Record<ThinkingLevel, NonNullable<OutputConfig["effort"]>>> = {
  off: "low",
  minimal: "low",
  low: "low",
  medium: "medium",
  high: "high",
  max: "max",
};

/** The SDK's way of making any schema one that the vendor takes; it throws for those it cannot. */
export interface SchemaTransformer {
  transformJSONSchema(schema: JsonObject): JSONOutputFormat["schema"];
}

/** The JSON of the body of a `/v1/messages` request. */
export function buildRequest(request: ModelRequest, sdk: SchemaTransformer): string {
  const { model, context, options } = request;
  const quirks = anthropicQuirks(model);
  const plan = planThinking(request);
  const cache = cacheControl(options);
  const params: Omit<MessageCreateParamsStreaming, "messages"> = {
    model: model.id,
    max_tokens: plan.maxTokens,
    stream: true,
  };
  const system = systemBlocks(context.system, cache);
  if (system.length > 0) params.system = system;
  if (context.tools.length > 0) {
    params.tools = offeredTools(context.tools, cache);
    const choice = toolChoice(request, plan.thinks || !quirks.forcedTools);
    if (choice !== undefined) params.tool_choice = choice;
  } else {
    // The vendor wants calls in the history to be of declared tools, also where none is offered any more.
    const past = pastTools(context.messages);
    if (past.length > 0) Object.assign(params, { tools: past, tool_choice: { type: "none" } });
  }
  if (plan.thinking !== undefined) params.thinking = plan.thinking;
  const output = stated({ effort: plan.effort, format: outputFormat(request, sdk) });
  if (Object.keys(output).length > 0) params.output_config = output;
  const { temperature, topP } = samplingParams(request, quirks.temperature && !plan.thinks);
  // Older models take what the SDK's types, made for the newest, do not know any more.
  Object.assign(params, stated({ temperature, top_p: topP }));
  const stops = options.stopSequences?.filter((stop) => stop.trim() !== "") ?? [];
  if (stops.length > 0) params.stop_sequences = stops;

  const messages = historyMessages(context.messages);
  const last = context.messages.at(-1);
  if (last?.role === "assistant" && last.stopReason !== "pause" && !quirks.prefill)
    messages.push({ role: "user", parts: [partOf([{ type: "text", text: "(continue)" }])] });
  if (cache !== undefined) markForCache(messages, cache);
  return bodyJson({ ...params, ...options.extra }, messages);
}

/** Of a long conversation nearly everything was sent before, and is JSON already. A host may state its own messages. */
function bodyJson(params: object, messages: readonly MessageParts[]): string {
  const json = JSON.stringify(params);
  return "messages" in params
    ? json
    : `${json.slice(0, -1)},"messages":[${messages.map(messageJson).join()}]}`;
}

interface ThinkingPlan {
  readonly maxTokens: number;
  /** Whether the model will think, which rules out a forced tool and a temperature. */
  readonly thinks: boolean;
  readonly thinking?: ThinkingConfigParam;
  readonly effort?: OutputConfig["effort"];
}

function planThinking({ model, options, warn }: ModelRequest): ThinkingPlan {
  const quirks = anthropicQuirks(model);
  let level = thinkingLevel(model, options, warn) ?? "off";
  const forced = options.toolChoice === "required" || typeof options.toolChoice === "object";
  if (level !== "off" && forced && !quirks.thinkingAlwaysOn) {
    warn(
      "thinking.dropped",
      "The vendor does not think when a tool is forced: thinking is off for this turn.",
    );
    level = "off";
  }
  // What is thought counts towards max_tokens.
  const maxTokens = outputTokens(model, options, level);
  if (level === "off")
    return {
      maxTokens,
      thinks: false,
      ...(quirks.thinkingOff && { thinking: { type: quirks.thinkingOff } }),
    };
  if (quirks.thinking === "adaptive") {
    const display = quirks.thinkingDisplay ? { display: "summarized" as const } : {};
    return { maxTokens, thinks: true, thinking: { type: "adaptive", ...display }, effort: EFFORTS[level] };
  }
  const budget = Math.min(THINKING_TOKENS[level], maxTokens - MIN_BUDGET);
  if (budget < MIN_BUDGET) {
    warn("thinking.dropped", `${maxTokens} output tokens leave no room to think.`);
    return { maxTokens, thinks: false };
  }
  return { maxTokens, thinks: true, thinking: { type: "enabled", budget_tokens: budget } };
}

/** The vendor takes either a temperature or a `top_p`, and 1 for both where neither is stated. */
function samplingParams(request: ModelRequest, isTaken: boolean) {
  const [temperature, topP] = [request.options.temperature, request.options.topP].map((value) =>
    value === 1 ? undefined : value,
  );
  const { seed } = request.options;
  const taken = { temperature: isTaken, topP: isTaken && temperature === undefined, seed: false };
  return samplingFor(request, { temperature, topP, seed }, taken);
}

function outputFormat(
  { model, options, warn }: ModelRequest,
  { transformJSONSchema }: SchemaTransformer,
): JSONOutputFormat | undefined {
  const { json } = options;
  if (json === undefined) return undefined;
  try {
    if (json.schema !== undefined && anthropicQuirks(model).jsonSchema)
      return { type: "json_schema", schema: transformJSONSchema(json.schema) };
  } catch {
    // A schema the vendor would refuse.
  }
  warn("json.dropped", `${model.id} cannot be told to answer in ${json.schema ? "this" : "any"} JSON.`);
  return undefined;
}

function cacheControl({ cache }: StreamOptions): CacheControlEphemeral | undefined {
  if (cache === "none") return undefined;
  return cache === "long" ? { type: "ephemeral", ttl: "1h" } : { type: "ephemeral" };
}

/** The system prompt; what is stable ends in a cache breakpoint. */
function systemBlocks({ stable, volatile = "" }: SystemPrompt, cache: CacheControlEphemeral | undefined) {
  const blocks: TextBlockParam[] = [];
  if (stable.trim() !== "")
    blocks.push({ type: "text", text: stable, ...(cache && { cache_control: cache }) });
  if (volatile.trim() !== "") blocks.push({ type: "text", text: volatile });
  return blocks;
}

/** The tools, the last of them with a cache breakpoint. */
function offeredTools(specs: readonly ToolSpec[], cache: CacheControlEphemeral | undefined): Tool[] {
  const tools = specs.map(({ name, description, inputSchema }): Tool => {
    return { name, description, input_schema: { ...inputSchema, type: "object" } };
  });
  const last = tools.at(-1);
  if (last !== undefined && cache !== undefined) last.cache_control = cache;
  return tools;
}

function pastTools(messages: readonly Message[]): Tool[] {
  const names = new Set<string>();
  for (const message of messages)
    if (message.role === "assistant")
      for (const block of message.content) if (block.type === "toolCall") names.add(block.name);
  return [...names].map((name) => ({ name, input_schema: { type: "object" } }));
}

function toolChoice({ options, warn }: ModelRequest, unforced: boolean): ToolChoice | undefined {
  const { toolChoice } = options;
  if (toolChoice === undefined || toolChoice === "auto") return undefined;
  if (toolChoice === "none") return { type: "none" };
  if (unforced) {
    warn("tool_choice.dropped", "This model cannot be forced to call a tool; it decides by itself.");
    return undefined;
  }
  return toolChoice === "required" ? { type: "any" } : { type: "tool", name: toolChoice.name };
}

/** Two breakpoints: what was cached last time is found again, and this turn's end is cached for the next. */
function markForCache(messages: MessageParts[], cache: CacheControlEphemeral): void {
  let at = messages.length;
  for (let marks = 0; marks < 2; marks++) {
    at = messages.findLastIndex(({ role }, index) => index < at && role === "user");
    const { role, parts } = messages[at] ?? {};
    if (role === undefined || parts === undefined) return;
    const last = parts.at(-1)?.blocks ?? [];
    const marked = last.map((block, i) =>
      i === last.length - 1 ? { ...block, cache_control: cache } : block,
    );
    messages[at] = { role, parts: [...parts.slice(0, -1), partOf(marked)] };
  }
}
