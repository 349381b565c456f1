// A registered symbol, so that two installed copies of this package recognize each other's errors.
const MARK = Symbol.for("signalbox.agent-core.error");

/**
 * - `busy`: the agent already has a run; use `steer` or `followUp`.
 * - `nothing_to_continue`: the history requires no model turn.
 * - `invalid_input`: the input contains a message that only the loop may add (an assistant turn, a tool result).
 * - `invalid_tool`: two tools have the same name, a name is not accepted by vendors, or a schema is missing or invalid.
 * - `journal_failed`: `onJournalEntry` failed, so nothing was done after it.
 * - `hook_failed`: `transformContext`, `convertToLlm`, `system`, `steering`, `followUps` or `onPendingCall` threw.
 */
export type AgentErrorCode =
  | "busy"
  | "nothing_to_continue"
  | "invalid_input"
  | "invalid_tool"
  | "journal_failed"
  | "hook_failed";

/** Thrown if this package is misused or a hook of the host fails. Never thrown for failures of models and tools. */
export class AgentError extends Error {
  readonly code: AgentErrorCode;

  constructor(code: AgentErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "AgentError";
    Object.defineProperty(this, MARK, { value: true });
    this.code = code;
  }
}

/** Returns true if a value is an `AgentError` from any installed copy of this package. */
export function isAgentError(value: unknown): value is AgentError {
  try {
    return typeof value === "object" && value !== null && MARK in value;
  } catch {
    // A proxy may throw.
    return false;
  }
}

/** Returns the message of a thrown value. Never throws itself, even if the value cannot be read. */
export function reasonOf(error: unknown): string {
  try {
    if (!(error instanceof Error)) return typeof error === "string" ? error : String(error);
    const said: unknown = error.message === "" ? error.name : error.message;
    return String(said);
  } catch {
    return "an error that cannot be shown";
  }
}
