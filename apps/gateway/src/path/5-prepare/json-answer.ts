import type { JsonObject, JsonOutput } from "@signalbox/agent-core";
import type { TurnSampling } from "@signalbox/channel";

type JsonAnswer = NonNullable<TurnSampling["json"]>;

/** The wish as a model's provider takes it. */
export function jsonOutput({ schema, ...wanted }: JsonAnswer): JsonOutput {
  if (typeof schema !== "object" || schema === null) return wanted;
  const json: JsonObject = JSON.parse(JSON.stringify(schema));
  return { ...wanted, schema: json };
}

/** Tells the agent, whose own prompt knows nothing of it, what its answer is to be. */
export function jsonInstructions({ schema }: JsonAnswer): string {
  const rule =
    "Your final answer is read by a program: give one JSON value and nothing else, without a code fence.";
  return schema === undefined ? rule : `${rule} It must match this JSON Schema:\n${JSON.stringify(schema)}`;
}
