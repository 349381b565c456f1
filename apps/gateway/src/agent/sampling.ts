import type { JsonObject, JsonOutput, StreamOptions } from "@signalbox/agent-core";
import type { TurnRequest, TurnSampling } from "@signalbox/channel";
import type { Agent } from "../configure/agents.ts";

/** Returns sampling options from the agent's configuration and the client's request. */
export function getSamplingOptions(
  { maxOutputTokens: most }: Pick<Agent, "maxOutputTokens">,
  turn: TurnRequest | undefined,
): StreamOptions {
  const { temperature, topP, seed, maxOutputTokens: wanted, stopSequences, json } = turn?.sampling ?? {};
  const limits = [most, wanted].filter((limit) => limit !== undefined);
  return {
    maxOutputTokens: limits.length === 0 ? undefined : Math.min(...limits),
    temperature,
    topP,
    seed,
    stopSequences,
    json: json === undefined ? undefined : jsonOutput(json),
  };
}

/** Returns the texts of the turns that belong to the answer. If the client requested JSON, only the last turn does. */
export function getAnswerTexts(texts: readonly string[], turn: TurnRequest | undefined): readonly string[] {
  if (turn?.sampling?.json === undefined) return texts;
  return texts.slice(texts.findLastIndex((text) => text.trim() !== ""));
}

/** Ignores a client's schema that is not an object. */
function jsonOutput({ schema, ...wanted }: NonNullable<TurnSampling["json"]>): JsonOutput {
  if (typeof schema !== "object" || schema === null) return wanted;
  const json: JsonObject = JSON.parse(JSON.stringify(schema));
  return { ...wanted, schema: json };
}
