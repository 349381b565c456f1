import type { ChatCompletionStreamRequest, ResponseFormat } from "@mistralai/mistralai/models/components";
import type { JsonOutput } from "@signalbox/agent-core";
import type { ModelRequest } from "../provider/define-provider.ts";
import { stated } from "../shared/json.ts";
import { systemText } from "../shared/request.ts";
import { outputTokens, thinkingLevel } from "../shared/thinking.ts";
import { historyMessages } from "./history.ts";
import { mistralQuirks } from "./quirks.ts";

/** The words that the SDK takes. */
const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh"] as const;

/** The request as the SDK takes it. */
export function buildRequest({ model, context, options, warn }: ModelRequest): ChatCompletionStreamRequest {
  const level = thinkingLevel(model, options, warn);
  const messages = historyMessages(context.messages);
  const system = systemText(context.system);
  if (system !== "") messages.unshift({ role: "system", content: system });
  const request: ChatCompletionStreamRequest = {
    model: model.id,
    messages,
    stream: true,
    maxTokens: outputTokens(model, options, level),
  };
  const { temperature, topP, seed, json } = options;
  Object.assign(request, stated({ temperature, topP, randomSeed: seed }));
  if (json !== undefined) request.responseFormat = responseFormat(json);
  if (options.stopSequences?.length) request.stop = [...options.stopSequences];
  if (options.sessionId !== undefined && options.cache !== "none") request.promptCacheKey = options.sessionId;
  if (context.tools.length > 0) {
    request.tools = context.tools.map((tool) => ({
      type: "function",
      function: { name: tool.name, description: tool.description, parameters: { ...tool.inputSchema } },
    }));
    const choice = options.toolChoice;
    if (typeof choice === "object")
      request.toolChoice = { type: "function", function: { name: choice.name } };
    else if (choice === "required") request.toolChoice = "any";
    else if (choice !== undefined) request.toolChoice = choice;
  }
  // Not thinking is what a model does that is told nothing.
  if (level !== undefined && (level !== "off" || options.thinking !== undefined)) {
    const { thinkingStyle, efforts } = mistralQuirks(model);
    if (thinkingStyle === "prompt_mode") request.promptMode = level === "off" ? null : "reasoning";
    else {
      const word = efforts[level] ?? level;
      request.reasoningEffort = EFFORTS.find((effort) => effort === word);
    }
  }
  return request;
}

function responseFormat({ name = "answer", schema, strict = false }: JsonOutput): ResponseFormat {
  if (schema === undefined) return { type: "json_object" };
  return { type: "json_schema", jsonSchema: { name, schemaDefinition: { ...schema }, strict } };
}
