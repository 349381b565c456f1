import type { GenerateContentConfig, GenerateContentParameters } from "@google/genai";
import type { JsonObject, JsonOutput, Model, ThinkingLevel } from "@signalbox/agent-core";
import type { ModelRequest } from "../provider/define-provider.ts";
import { numberAt, objectAt, withoutUndefined } from "../shared/json.ts";
import {
  askForJson,
  outputTokens,
  stopSequences,
  systemText,
  THINKING_TOKENS,
  thinkingLevel,
} from "../shared/request.ts";
import { historyContents } from "./history.ts";
import { googleQuirks } from "./quirks.ts";

/** Maximum thinking budget that all Gemini 2.5 models accept, in tokens. Pro allows 32,768. */
const MAX_BUDGET = 24_576;

/** The SDK's enums. The SDK is imported only with the first request. */
export type VendorEnums = Pick<typeof import("@google/genai"), "FunctionCallingConfigMode" | "ThinkingLevel">;

export function requestParams(
  request: ModelRequest,
  enums: VendorEnums,
): GenerateContentParameters & { config: GenerateContentConfig } {
  const { model, context, options } = request;
  const { temperature, topP, seed } = options;
  const quirks = googleQuirks(model);
  const level = thinkingLevel(request);
  const { json } = options;
  const needsWords = json !== undefined && context.tools.length > 0 && !quirks.jsonWithTools;
  const config: GenerateContentConfig = {
    maxOutputTokens: outputTokens(request, level),
    ...withoutUndefined({
      systemInstruction: systemText(needsWords ? askForJson(request, json) : context.system),
      temperature,
      topP,
      seed,
      stopSequences: stopSequences(request, 5),
      thinkingConfig: level && {
        ...(quirks.thinkingStyle === "level"
          ? { thinkingLevel: enums.ThinkingLevel[LEVELS[level]] }
          : { thinkingBudget: budget(model, level) }),
        ...(level !== "off" && { includeThoughts: true }),
      },
    }),
    ...(json && !needsWords && jsonFields(json)),
    ...toolFields(request, enums),
  };
  return { model: model.id, contents: historyContents(context.messages, quirks), config };
}

function jsonFields({ schema }: JsonOutput) {
  return {
    responseMimeType: "application/json",
    ...withoutUndefined({ responseJsonSchema: schema && withoutDialect(schema) }),
  };
}

function toolFields({ context, options }: ModelRequest, { FunctionCallingConfigMode: modes }: VendorEnums) {
  if (context.tools.length === 0) return {};
  const functionDeclarations = context.tools.map(({ name, description, inputSchema }) => {
    return { name, description, parametersJsonSchema: inputSchema };
  });
  const { toolChoice: choice } = options;
  const mode =
    choice === undefined || choice === "auto" ? undefined : choice === "none" ? modes.NONE : modes.ANY;
  const names = typeof choice === "object" ? { allowedFunctionNames: [choice.name] } : {};
  const toolConfig = mode && { functionCallingConfig: { mode, ...names } };
  return { tools: [{ functionDeclarations }], ...withoutUndefined({ toolConfig }) };
}

/** Returns the thinking budget of a level: the model's quirk, or a budget that all Gemini 2.5 models accept. */
function budget({ quirks = {} }: Model, level: ThinkingLevel): number {
  return numberAt(objectAt(quirks, "budgets"), level) ?? Math.min(MAX_BUDGET, THINKING_TOKENS[level]);
}

/** Thinking cannot be turned off in Gemini 3. */
const LEVELS: Readonly<Record<ThinkingLevel, keyof VendorEnums["ThinkingLevel"]>> = {
  off: "MINIMAL",
  minimal: "MINIMAL",
  low: "LOW",
  medium: "MEDIUM",
  high: "HIGH",
  max: "HIGH",
};

/** The vendor accepts JSON Schema, but not the `$schema` key. */
function withoutDialect(schema: JsonObject): JsonObject {
  const { $schema: _, ...rest } = schema;
  return rest;
}
