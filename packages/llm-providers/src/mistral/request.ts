import type { ChatCompletionStreamRequest, ResponseFormat } from "@mistralai/mistralai/models/components";
import type { JsonObject, JsonOutput, Model, ThinkingLevel } from "@signalbox/agent-core";
import type { ModelRequest } from "../provider/define-provider.ts";
import { withoutUndefined } from "../shared/json.ts";
import { outputTokens, stopSequences, systemText, thinkingLevel, toFunction } from "../shared/request.ts";
import { historyMessages } from "./history.ts";
import { mistralQuirks } from "./quirks.ts";

export function requestParams(request: ModelRequest): ChatCompletionStreamRequest {
  const { model, context, options } = request;
  const { temperature, topP, seed, json, sessionId, cache } = options;
  const level = thinkingLevel(request);
  const system = systemText(context.system);
  const messages = historyMessages(context.messages);
  const params: ChatCompletionStreamRequest = {
    model: model.id,
    messages: system === undefined ? messages : [{ role: "system", content: system }, ...messages],
    stream: true,
    maxTokens: outputTokens(request, level),
    ...withoutUndefined({
      temperature,
      topP,
      randomSeed: seed,
      responseFormat: json && responseFormat(json),
      stop: stopSequences(request, Number.POSITIVE_INFINITY),
      promptCacheKey: cache === "none" ? undefined : sessionId,
    }),
    ...toolFields(request),
  };
  // Without these fields a model does not think.
  const isSet = level !== undefined && (level !== "off" || options.thinking !== undefined);
  return isSet ? Object.assign(params, thinking(model, level)) : params;
}

function toolFields({ context, options }: ModelRequest): Partial<ChatCompletionStreamRequest> {
  if (context.tools.length === 0) return {};
  const tools = context.tools.map((tool) => ({ type: "function" as const, function: toFunction(tool) }));
  const { toolChoice: choice } = options;
  if (choice === undefined) return { tools };
  if (typeof choice === "object")
    return { tools, toolChoice: { type: "function", function: { name: choice.name } } };
  return { tools, toolChoice: choice === "required" ? "any" : choice };
}

function thinking(model: Model, level: ThinkingLevel): JsonObject {
  const { thinkingStyle, efforts } = mistralQuirks(model);
  if (thinkingStyle === "prompt_mode") return { promptMode: level === "off" ? null : "reasoning" };
  return { reasoningEffort: efforts[level] ?? level };
}

function responseFormat({ name = "answer", schema, strict = false }: JsonOutput): ResponseFormat {
  if (schema === undefined) return { type: "json_object" };
  return { type: "json_schema", jsonSchema: { name, schemaDefinition: { ...schema }, strict } };
}
