import type { ChatCompletionStreamRequest } from "@mistralai/mistralai/models/components";
import type { Model, ModelContext, StreamOptions } from "@signalbox/agent-core";
import { toolNameFor } from "../adapt/names.ts";
import { effortWords } from "../openai/efforts.ts";
import { outputTokens, thinkingLevel, type Warn } from "../shared/thinking.ts";
import { historyMessages } from "./history.ts";

/**
 * The request as the SDK takes it. `quirks.thinkingStyle` says how a level is told: `reasoning_effort` (default) or
 * `prompt_mode` (default for Magistral models, which know on and off only).
 */
export function buildRequest(
  model: Model,
  context: ModelContext,
  options: StreamOptions,
  warn: Warn,
): ChatCompletionStreamRequest {
  const level = thinkingLevel(model, options, warn);
  const messages = historyMessages(context.messages, model);
  const system = [context.system.stable, context.system.volatile].filter(Boolean).join("\n\n");
  if (system !== "") messages.unshift({ role: "system", content: system });
  const request: ChatCompletionStreamRequest = {
    model: model.id,
    messages,
    stream: true,
    maxTokens: outputTokens(model, options, level),
  };
  if (options.temperature !== undefined) request.temperature = options.temperature;
  if (options.stopSequences?.length) request.stop = [...options.stopSequences];
  if (options.sessionId !== undefined && options.cache !== "none") request.promptCacheKey = options.sessionId;
  if (context.tools.length > 0) {
    request.tools = context.tools.map((tool) => ({
      type: "function",
      function: { name: tool.name, description: tool.description, parameters: { ...tool.inputSchema } },
    }));
    const choice = options.toolChoice;
    if (typeof choice === "object")
      request.toolChoice = { type: "function", function: { name: toolNameFor(model.api, choice.name) } };
    else if (choice === "required") request.toolChoice = "any";
    else if (choice !== undefined) request.toolChoice = choice;
  }
  // Not thinking is what a model does that is told nothing.
  if (level !== undefined && (level !== "off" || options.thinking !== undefined)) {
    const quirks = model.quirks ?? {};
    const style = quirks.thinkingStyle ?? (/^magistral/.test(model.id) ? "prompt_mode" : "reasoning_effort");
    if (style === "prompt_mode") request.promptMode = level === "off" ? null : "reasoning";
    else
      request.reasoningEffort = asEffort(
        { off: "none", max: "xhigh", ...effortWords(quirks) }[level] ?? level,
      );
  }
  return request;
}

function asEffort(word: string): ChatCompletionStreamRequest["reasoningEffort"] {
  switch (word) {
    case "none":
    case "minimal":
    case "low":
    case "medium":
    case "high":
    case "xhigh":
      return word;
    default:
      return undefined;
  }
}
