// A registered symbol, so that two installed copies of this package recognise each other's errors.
const MARK = Symbol.for("signalbox.agent-core.error");

/**
 * - `busy`: the agent already has a run; use `steer` or `followUp`.
 * - `nothing_to_continue`: the history asks for no model turn.
 * - `invalid_input`: what was said holds a message only the loop may add (an assistant turn, a tool result).
 * - `invalid_tool`: two tools of one name, a name that vendors refuse, or a schema that cannot be shown to a model.
 * - `journal_failed`: `onJournalEntry` failed, so nothing after it was done.
 * - `hook_failed`: `transformContext`, `convertToLlm`, `system`, `steering`, `followUps` or `onPendingCall` threw.
 */
export type AgentErrorCode =
  | "busy"
  | "nothing_to_continue"
  | "invalid_input"
  | "invalid_tool"
  | "journal_failed"
  | "hook_failed";

/** A misuse of this package, or a failed hook of the host. Failures of a model or a tool are never thrown. */
export class AgentError extends Error {
  readonly code: AgentErrorCode;

  constructor(code: AgentErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "AgentError";
    Object.defineProperty(this, MARK, { value: true });
    this.code = code;
  }
}

/** Recognises an `AgentError` of any installed copy of this package. */
export function isAgentError(value: unknown): value is AgentError {
  try {
    return typeof value === "object" && value !== null && MARK in value;
  } catch {
    // A proxy may refuse to be asked.
    return false;
  }
}

/** The message of an unknown thrown value. Never throws: a value may have no prototype, or refuse to be read. */
export function reasonOf(error: unknown): string {
  try {
    if (!(error instanceof Error)) return typeof error === "string" ? error : String(error);
    const said: unknown = error.message === "" ? error.name : error.message;
    return String(said);
  } catch {
    return "an error that cannot be shown";
  }
}
