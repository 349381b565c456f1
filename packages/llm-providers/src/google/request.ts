import type { GenerateContentConfig, GenerateContentParameters } from "@google/genai";
import type { JsonObject, Model, ThinkingLevel } from "@signalbox/agent-core";
import type { ModelRequest } from "../provider/define-provider.ts";
import { numberAt, objectAt, stated } from "../shared/json.ts";
import {
  outputTokens,
  stopSequences,
  systemText,
  THINKING_TOKENS,
  thinkingLevel,
} from "../shared/request.ts";
import { historyContents } from "./history.ts";
import { type GoogleQuirks, googleQuirks } from "./quirks.ts";

/** The most that Gemini 2.5 takes, except for Pro's 32,768. */
const MAX_BUDGET = 24_576;

/** The enums of the SDK, which is not imported before the first request. */
export type VendorEnums = Pick<typeof import("@google/genai"), "FunctionCallingConfigMode" | "ThinkingLevel">;

export function requestParams(
  request: ModelRequest,
  enums: VendorEnums,
): GenerateContentParameters & { config: GenerateContentConfig } {
  const { model, context, options } = request;
  const { temperature, topP, seed } = options;
  const quirks = googleQuirks(model);
  const level = thinkingLevel(request);
  const config: GenerateContentConfig = {
    maxOutputTokens: outputTokens(request, level),
    ...stated({
      systemInstruction: systemText(context.system),
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
    ...jsonFields(request, quirks),
    ...toolFields(request, enums),
  };
  return { model: model.id, contents: historyContents(context.messages, quirks), config };
}

function jsonFields({ model, context, options, warn }: ModelRequest, quirks: GoogleQuirks) {
  const { json } = options;
  if (json === undefined) return {};
  if (context.tools.length > 0 && !quirks.jsonWithTools) {
    warn("json_dropped", `${model.id} cannot be told to answer in JSON while it has tools.`);
    return {};
  }
  const schema = json.schema && withoutDialect(json.schema);
  return { responseMimeType: "application/json", ...stated({ responseJsonSchema: schema }) };
}

function toolFields({ context, options }: ModelRequest, { FunctionCallingConfigMode: modes }: VendorEnums) {
  if (context.tools.length === 0) return {};
  const functionDeclarations = context.tools.map(({ name, description, inputSchema }) => {
    return { name, description, parametersJsonSchema: withoutDialect(inputSchema) };
  });
  const { toolChoice: choice } = options;
  const mode =
    choice === undefined || choice === "auto" ? undefined : choice === "none" ? modes.NONE : modes.ANY;
  const names = typeof choice === "object" ? { allowedFunctionNames: [choice.name] } : {};
  const toolConfig = mode && { functionCallingConfig: { mode, ...names } };
  return { tools: [{ functionDeclarations }], ...stated({ toolConfig }) };
}

/** Tokens to think with: what the model's quirk `budgets` states for the level, or what all of Gemini 2.5 take. */
function budget({ quirks = {} }: Model, level: ThinkingLevel): number {
  return numberAt(objectAt(quirks, "budgets"), level) ?? Math.min(MAX_BUDGET, THINKING_TOKENS[level]);
}

/** Gemini 3 cannot stop thinking; its least stands for `off`. */
const LEVELS: Readonly<Record<ThinkingLevel, keyof VendorEnums["ThinkingLevel"]>> = {
  off: "MINIMAL",
  minimal: "MINIMAL",
  low: "LOW",
  medium: "MEDIUM",
  high: "HIGH",
  max: "HIGH",
};

/** The vendor knows JSON Schema but not the key that names its version. */
function withoutDialect(schema: JsonObject): JsonObject {
  const { $schema: _, ...rest } = schema;
  return rest;
}
