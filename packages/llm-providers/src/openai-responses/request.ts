import type { JsonObject, JsonOutput, ThinkingLevel } from "@signalbox/agent-core";
import type OpenAI from "openai";
import { cacheFields } from "../openai/openai-provider.ts";
import type { ModelRequest } from "../provider/define-provider.ts";
import { withoutUndefined } from "../shared/json.ts";
import {
  mentionJson,
  outputTokens,
  samplingFor,
  stopSequences,
  systemText,
  thinkingLevel,
  toFunction,
} from "../shared/request.ts";
import { historyItems } from "./history.ts";
import { type ResponsesQuirks, responsesQuirks } from "./quirks.ts";

type Params = OpenAI.Responses.ResponseCreateParamsStreaming;

/** Minimum output limit of the API, in tokens. */
const MIN_OUTPUT_TOKENS = 16;

/** The body of a `/v1/responses` request. The vendor stores nothing, so reasoning is requested in encrypted form. */
export function requestParams(request: ModelRequest): Params {
  const { model, context, options } = request;
  const quirks = responsesQuirks(model);
  const level = thinkingLevel(request);
  const isJsonObject = options.json !== undefined && options.json.schema === undefined;
  stopSequences(request, 0);
  const params: Params = {
    model: model.id,
    stream: true,
    store: false,
    input: historyItems(context.messages),
    max_output_tokens: Math.max(MIN_OUTPUT_TOKENS, outputTokens(request, level)),
    ...withoutUndefined({
      instructions: systemText(isJsonObject ? mentionJson(request) : context.system),
      text: options.json && { format: textFormat(options.json) },
    }),
    ...samplingFor(request, quirks.temperature ? ["temperature", "top_p"] : []),
    ...toolFields(request),
    ...cacheFields(options, quirks.longCache),
  };
  return Object.assign(params, level !== undefined && thinking(level, quirks), options.extra);
}

function thinking(level: ThinkingLevel, quirks: ResponsesQuirks): JsonObject {
  const reasoning: Record<string, string> = { effort: quirks.efforts[level] ?? level };
  if (quirks.reasoningSummary && level !== "off") reasoning.summary = "auto";
  return { include: ["reasoning.encrypted_content"], reasoning };
}

function toolFields({ context, options }: ModelRequest): Partial<Params> {
  if (context.tools.length === 0) return {};
  const tools = context.tools.map((tool) => ({
    type: "function" as const,
    ...toFunction(tool),
    strict: false,
  }));
  const { toolChoice: choice } = options;
  if (choice === undefined || choice === "auto") return { tools };
  return {
    tools,
    tool_choice: typeof choice === "object" ? { type: "function", name: choice.name } : choice,
  };
}

function textFormat({ name = "answer", schema, strict = false }: JsonOutput) {
  if (schema === undefined) return { type: "json_object" as const };
  return { type: "json_schema" as const, name, schema: { ...schema }, strict };
}
