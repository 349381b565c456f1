import type { JsonOutput } from "@signalbox/agent-core";
import type OpenAI from "openai";
import type { ModelRequest } from "../provider/define-provider.ts";
import { stated } from "../shared/json.ts";
import { systemText } from "../shared/request.ts";
import { samplingFor } from "../shared/sampling.ts";
import { outputTokens, thinkingLevel } from "../shared/thinking.ts";
import { historyItems } from "./history.ts";
import { responsesQuirks } from "./quirks.ts";

type Params = OpenAI.Responses.ResponseCreateParamsStreaming;

/** The endpoint's own lower bound. */
const MIN_OUTPUT_TOKENS = 16;

/** The words that the SDK takes. */
const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;

/** The body of a `/v1/responses` request. Nothing is stored at the vendor; reasoning comes back encrypted. */
export function buildRequest(request: ModelRequest): Params {
  const { model, context, options, warn } = request;
  const quirks = responsesQuirks(model);
  const level = thinkingLevel(model, options, warn);
  const system = systemText(context.system);
  const params: Params = {
    model: model.id,
    stream: true,
    store: false,
    input: historyItems(context.messages),
    max_output_tokens: Math.max(MIN_OUTPUT_TOKENS, outputTokens(model, options, level)),
  };
  if (system !== "") params.instructions = system;
  if (level !== undefined) {
    const effort = quirks.efforts[level] ?? level;
    params.include = ["reasoning.encrypted_content"];
    params.reasoning = { effort: EFFORTS.find((word) => word === effort) ?? null };
    if (quirks.reasoningSummary && level !== "off") params.reasoning.summary = "auto";
  }
  const taken = { temperature: quirks.temperature, topP: quirks.temperature, seed: false };
  const { temperature, topP } = samplingFor(request, options, taken);
  Object.assign(params, stated({ temperature, top_p: topP }));
  if (options.json !== undefined) params.text = { format: textFormat(options.json) };
  if (options.stopSequences?.length)
    warn("stop.dropped", "The Responses endpoint takes no stop sequences; they were left out.");
  if (context.tools.length > 0) {
    params.tools = context.tools.map((tool) => ({
      type: "function",
      name: tool.name,
      description: tool.description,
      parameters: { ...tool.inputSchema },
      strict: false,
    }));
    const choice = options.toolChoice;
    if (typeof choice === "object") params.tool_choice = { type: "function", name: choice.name };
    else if (choice !== undefined && choice !== "auto") params.tool_choice = choice;
  }
  if (options.cache !== "none") {
    if (options.sessionId !== undefined) params.prompt_cache_key = options.sessionId.slice(0, 64);
    if (options.cache === "long" && quirks.longCache) params.prompt_cache_retention = "24h";
  }
  return Object.assign(params, options.extra);
}

function textFormat({ name = "answer", schema, strict = false }: JsonOutput) {
  if (schema === undefined) return { type: "json_object" as const };
  return { type: "json_schema" as const, name, schema: { ...schema }, strict };
}
