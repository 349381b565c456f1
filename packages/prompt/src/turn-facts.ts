import type { Capabilities } from "@signalbox/channel";

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

/** Tells an agent, whose own prompt knows nothing of it, that its answer is to be JSON, of a schema or any. */
export function jsonInstructions(schema?: unknown): string {
  const rule =
    "Your final answer is read by a program: give one JSON value and nothing else, without a code fence.";
  return schema === undefined ? rule : `${rule} It must match this JSON Schema:\n${JSON.stringify(schema)}`;
}
