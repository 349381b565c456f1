import type { ToolCallBlock } from "../content.ts";
import type { AgentMessage } from "../messages.ts";
import type { ToolSpec } from "../model.ts";

/** Texts that the model receives instead of a result. They are in one file because prompts rely on their wording. */
export const texts = {
  unknownTool: (name: string, known: readonly ToolSpec[]): string =>
    known.length === 0
      ? `There is no tool "${name}"; no tools can be used here.`
      : `There is no tool "${name}". The tools are: ${known.map((tool) => tool.name).join(", ")}.`,
  malformed: (call: ToolCallBlock): string =>
    `The arguments of "${call.name}" are not a JSON object${call.argsError === undefined ? "" : `: ${call.argsError.replace(/\.$/, "")}`}. Make the call again with valid JSON.`,
  invalid: (name: string, problems: string): string =>
    `The arguments of "${name}" are wrong:\n${problems}\nCorrect them and make the call again.`,
  blocked: (name: string, reason: string): string => `"${name}" was not allowed: ${reason}`,
  guardFailed: (name: string, why: string): string =>
    `"${name}" was not run, because the check before it failed: ${why}`,
  denied: (name: string, reason: string): string =>
    `"${name}" was not run, because the person declined: ${reason}`,
  timeout: (name: string, ms: number): string => `"${name}" did not finish within ${ms} ms and was stopped.`,
  abortedBefore: (name: string): string => `"${name}" was not run: the run was stopped first.`,
  abortedDuring: (name: string): string =>
    `The run was stopped while "${name}" was running. What it did before that is unknown.`,
  notArguments: (levels: number): string => `nested more than ${levels} levels deep, or not a JSON object`,
  badContent: (name: string, count: number): string =>
    `(${count} ${count === 1 ? "part" : "parts"} of the result of "${name}" could not be read)`,
  noContent: (name: string): string => `"${name}" returned nothing.`,
  emptyContent: "(no output)",
  steered:
    "Not run: the user sent a message first. Take it into account, and make the call again if it still fits.",
  notAsked: (stopReason: string): string =>
    stopReason === "max_tokens"
      ? "Not run: the message was cut at the output limit before it was complete."
      : `Not run: the turn ended with ${stopReason}, not with a tool call.`,
  limit: (name: string): string => `Not run: the run reached its limit (${name}).`,
  repeated: (name: string, count: number): string =>
    `Not run: this is call ${count} of "${name}" with the same arguments, so the run ends here.`,
  repeatWarning: (name: string, count: number): string =>
    `Note: this is call ${count} of "${name}" with exactly these arguments. Repeating it will not help; do something else, or answer with what you know.`,
  interrupted:
    "The run was interrupted before this call returned a result; whether it took effect is unknown. Check before you repeat it, or ask.",
  interruptedHarmless:
    "The run was interrupted before this call returned a result. Repeat it if it is still needed.",
  superseded: "Not run: the call was still waiting for a decision when the user sent a new message.",
  continueCut:
    "Your last message was cut at the output limit. Continue exactly where it stopped, without repeating anything and without an introduction.",
  continueBroken: "Your last message was interrupted. Continue where it stopped.",
} as const;

/** Creates a note from the loop to the model. */
export function createLoopNote(content: string, timestamp: number): AgentMessage {
  return { role: "custom", kind: "continue", content, timestamp };
}
