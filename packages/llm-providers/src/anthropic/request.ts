import type {
  CacheControlEphemeral,
  MessageCreateParamsStreaming,
  OutputConfig,
  TextBlockParam,
  ThinkingConfigParam,
  Tool,
  ToolChoice,
} from "@anthropic-ai/sdk/resources/messages";
import type { Message, StreamOptions, SystemPrompt, ThinkingLevel, ToolSpec } from "@signalbox/agent-core";
import type { ModelRequest } from "../provider/define-provider.ts";
import { outputTokens, THINKING_TOKENS, thinkingLevel } from "../shared/thinking.ts";
import { historyMessages, type MessageBlocks } from "./history.ts";
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

/** The body of a `/v1/messages` request. */
export function buildRequest(request: ModelRequest): MessageCreateParamsStreaming {
  const { model, context, options, warn } = request;
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
  if (plan.effort !== undefined) params.output_config = { effort: plan.effort };
  const { temperature } = options;
  if (temperature !== undefined && temperature !== 1) {
    if (plan.thinks) warn("temperature.dropped", "A thinking model takes no temperature; it was left out.");
    else if (quirks.temperature) Object.assign(params, { temperature });
    else warn("temperature.dropped", `${model.id} takes no temperature; it was left out.`);
  }
  const stops = options.stopSequences?.filter((stop) => stop.trim() !== "") ?? [];
  if (stops.length > 0) params.stop_sequences = stops;

  const messages = historyMessages(context.messages);
  const last = context.messages.at(-1);
  if (last?.role === "assistant" && last.stopReason !== "pause" && !quirks.prefill)
    messages.push({ role: "user", content: [{ type: "text", text: "(continue)" }] });
  if (cache !== undefined) markForCache(messages, cache);
  // Last, so that a growing conversation only appends to what was sent before.
  return { ...params, messages, ...options.extra };
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
  const maxTokens = outputTokens(model, options, "off");
  let level = thinkingLevel(model, options, warn) ?? "off";
  const forced = options.toolChoice === "required" || typeof options.toolChoice === "object";
  if (level !== "off" && forced && !quirks.thinkingAlwaysOn) {
    warn(
      "thinking.dropped",
      "The vendor does not think when a tool is forced: thinking is off for this turn.",
    );
    level = "off";
  }
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
  // The budget counts towards max_tokens.
  const room = outputTokens(model, options, level);
  const budget = Math.min(THINKING_TOKENS[level], room - MIN_BUDGET);
  if (budget < MIN_BUDGET) {
    warn("thinking.dropped", `${room} output tokens leave no room to think.`);
    return { maxTokens, thinks: false };
  }
  return { maxTokens: room, thinks: true, thinking: { type: "enabled", budget_tokens: budget } };
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
function markForCache(messages: readonly MessageBlocks[], cache: CacheControlEphemeral): void {
  for (const { content } of messages.filter(({ role }) => role === "user").slice(-2))
    Object.assign(content.at(-1) ?? {}, { cache_control: cache });
}
