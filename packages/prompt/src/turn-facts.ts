import type { Capabilities, TurnRequest } from "@signalbox/channel";

/** What a channel can do, in the words of `PromptRuntime`. */
export function capabilityNames(capabilities: Capabilities | undefined): string[] {
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

/** What the client of a turn wants the agent to heed. */
export function turnInstructions(turn: TurnRequest | undefined): string | undefined {
  const json = turn?.sampling?.json;
  const said = [turn?.instructions ?? "", json === undefined ? "" : jsonInstructions(json.schema)];
  const text = said.filter((part) => part !== "").join("\n\n");
  return text === "" ? undefined : text;
}

/** Tells an agent, whose own prompt knows nothing of it, that its answer is to be JSON, of a schema or any. */
function jsonInstructions(schema?: unknown): string {
  const rule =
    "Your final answer is read by a program: give one JSON value and nothing else, without a code fence.";
  return schema === undefined ? rule : `${rule} It must match this JSON Schema:\n${JSON.stringify(schema)}`;
}
