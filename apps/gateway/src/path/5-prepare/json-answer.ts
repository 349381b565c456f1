import type { JsonValue } from "@signalbox/agent-core";
import type { TurnSampling } from "@signalbox/channel";

type JsonAnswer = NonNullable<TurnSampling["json"]>;

/**
 * What asks a vendor's API for an answer in JSON, as part of its request body; undefined for one that has no such
 * parameter, where the words of {@link jsonInstructions} have to do.
 */
export function jsonParameters(
  api: string,
  { name, schema: given, strict = false }: JsonAnswer,
): Readonly<Record<string, JsonValue>> | undefined {
  const schema: JsonValue | undefined = given === undefined ? undefined : JSON.parse(JSON.stringify(given));
  switch (api) {
    case "openai-responses":
      return {
        text: {
          format:
            schema === undefined ? { type: "json_object" } : { type: "json_schema", name, schema, strict },
        },
      };
    case "openai-chat":
    case "mistral-chat":
      return {
        response_format:
          schema === undefined
            ? { type: "json_object" }
            : { type: "json_schema", json_schema: { name, schema, strict } },
      };
    case "anthropic-messages":
      return schema === undefined
        ? undefined
        : { output_config: { format: { type: "json_schema", schema } } };
    case "google-generative":
      return {
        generationConfig: {
          responseMimeType: "application/json",
          ...(schema === undefined ? {} : { responseJsonSchema: schema }),
        },
      };
    default:
      return undefined;
  }
}

/** Tells the agent, whose own prompt knows nothing of it, what its answer is to be. */
export function jsonInstructions({ schema }: JsonAnswer): string {
  const rule =
    "Your final answer is read by a program: give one JSON value and nothing else, without a code fence.";
  return schema === undefined ? rule : `${rule} It must match this JSON Schema:\n${JSON.stringify(schema)}`;
}
