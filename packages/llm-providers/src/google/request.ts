import type {
  FunctionCallingConfig,
  FunctionCallingConfigMode,
  GenerateContentConfig,
  GenerateContentParameters,
  ThinkingLevel as VendorLevel,
} from "@google/genai";
import type { JsonObject, Model, StreamOptions, ThinkingLevel } from "@signalbox/agent-core";
import type { ModelRequest } from "../provider/define-provider.ts";
import { numberAt, objectAt, stated } from "../shared/json.ts";
import { atMost, systemText } from "../shared/request.ts";
import { outputTokens, THINKING_TOKENS, thinkingLevel } from "../shared/thinking.ts";
import { historyContents } from "./history.ts";
import { googleQuirks } from "./quirks.ts";

/** The most that Gemini 2.5 takes, except for Pro's 32,768. */
const MAX_BUDGET = 24_576;

/** The enums of the SDK, which is not imported before the first request. */
export interface VendorEnums {
  readonly FunctionCallingConfigMode: typeof FunctionCallingConfigMode;
  readonly ThinkingLevel: typeof VendorLevel;
}

/** The request as the SDK takes it. */
export function buildRequest(
  { model, context, options, warn }: ModelRequest,
  enums: VendorEnums,
): GenerateContentParameters & { config: GenerateContentConfig } {
  const quirks = googleQuirks(model);
  const level = thinkingLevel(model, options, warn);
  const config: GenerateContentConfig = { maxOutputTokens: outputTokens(model, options, level) };
  const system = systemText(context.system);
  if (system !== "") config.systemInstruction = system;
  const { temperature, topP, seed, json } = options;
  Object.assign(config, stated({ temperature, topP, seed }));
  if (json !== undefined && context.tools.length > 0 && !quirks.jsonWithTools)
    warn("json.dropped", `${model.id} cannot be told to answer in JSON while it has tools.`);
  else if (json !== undefined) {
    config.responseMimeType = "application/json";
    if (json.schema !== undefined) config.responseJsonSchema = withoutDialect(json.schema);
  }
  if (options.stopSequences?.length) config.stopSequences = atMost(options.stopSequences, 5, warn);
  if (context.tools.length > 0) {
    const functionDeclarations = context.tools.map(({ name, description, inputSchema }) => {
      return { name, description, parametersJsonSchema: withoutDialect(inputSchema) };
    });
    config.tools = [{ functionDeclarations }];
    const calling = callingConfig(options.toolChoice, enums.FunctionCallingConfigMode);
    if (calling !== undefined) config.toolConfig = { functionCallingConfig: calling };
  }
  if (level !== undefined)
    config.thinkingConfig = {
      ...(quirks.thinkingStyle === "level"
        ? { thinkingLevel: vendorLevel(level, enums) }
        : { thinkingBudget: budget(model, level) }),
      ...(level !== "off" && { includeThoughts: true }),
    };
  return { model: model.id, contents: historyContents(context.messages, quirks), config };
}

function callingConfig(
  choice: StreamOptions["toolChoice"],
  modes: VendorEnums["FunctionCallingConfigMode"],
): FunctionCallingConfig | undefined {
  if (typeof choice === "object") return { mode: modes.ANY, allowedFunctionNames: [choice.name] };
  if (choice === "required") return { mode: modes.ANY };
  return choice === "none" ? { mode: modes.NONE } : undefined;
}

/** Tokens to think with: what the model's quirk `budgets` states for the level, or what all of Gemini 2.5 take. */
function budget({ quirks = {} }: Model, level: ThinkingLevel): number {
  return numberAt(objectAt(quirks, "budgets"), level) ?? Math.min(MAX_BUDGET, THINKING_TOKENS[level]);
}

/** Gemini 3 cannot stop thinking; its least stands for `off`. */
function vendorLevel(level: ThinkingLevel, enums: VendorEnums): VendorLevel {
  switch (level) {
    case "off":
    case "minimal":
      return enums.ThinkingLevel.MINIMAL;
    case "low":
      return enums.ThinkingLevel.LOW;
    case "medium":
      return enums.ThinkingLevel.MEDIUM;
    case "high":
    case "max":
      return enums.ThinkingLevel.HIGH;
  }
}

/** The vendor knows JSON Schema but not the key that names its version. */
function withoutDialect(schema: JsonObject): JsonObject {
  const { $schema: _, ...rest } = schema;
  return rest;
}
