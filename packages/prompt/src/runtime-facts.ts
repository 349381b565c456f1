import type { Capabilities, TurnRequest } from "@signalbox/channel";

/** Returns the capabilities of a channel for `PromptRuntime`. */
export function getCapabilityNames(capabilities: Capabilities | undefined): string[] {
  if (capabilities === undefined) return [];
  const { threads, reactions, edit, cards, sendMedia } = capabilities;
  return [
    ...(threads === "none" ? [] : [threads === "native" ? "threads" : "replies"]),
    ...(reactions === true ? ["reactions"] : []),
    ...(edit === undefined ? [] : ["edits"]),
    ...(cards === undefined ? [] : ["buttons"]),
    ...(sendMedia === undefined ? [] : ["attachments"]),
  ];
}

/** Returns the instructions that a turn's client gives the agent. */
export function getClientInstructions(turn: TurnRequest | undefined): string | undefined {
  const json = turn?.sampling?.json;
  const instructions = [
    turn?.instructions ?? "",
    json === undefined ? "" : createJsonInstructions(json.schema),
  ];
  const text = instructions.filter((part) => part !== "").join("\n\n");
  return text === "" ? undefined : text;
}

/** Requests an answer in JSON, because the agent's own prompt does not mention it. */
function createJsonInstructions(schema?: unknown): string {
  const rule =
    "A program reads your final answer: write one JSON value and nothing else, without a code fence.";
  return schema === undefined ? rule : `${rule} It must match this JSON Schema:\n${JSON.stringify(schema)}`;
}
