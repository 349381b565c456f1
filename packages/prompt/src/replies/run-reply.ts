import type { RunResult } from "@signalbox/agent-core";
import { composeReply, type Ending, type Reply } from "./compose.ts";
import { parseReply } from "./parse.ts";

/** The parts of a completed run that its reply depends on. */
export interface CompletedRun {
  readonly result: RunResult;
  /** One text per model turn. */
  readonly texts: readonly string[];
  /** Texts that a tool has sent to this conversation. */
  readonly alreadySent: readonly string[];
  /** Whether attachments are sent with the reply, so that the text does not name them. */
  readonly carries: boolean;
  /** Texts about an end other than the model's own. */
  readonly notes: EndNotes;
}

/** Texts about how a run ended. */
interface EndNotes {
  /** Appended to an answer that was truncated at the output limit. */
  readonly cutMark: string;
  readonly declined: string;
  readonly limitReached: (limit: string) => string;
  readonly repeated: string;
  readonly waitsForApproval: string;
  readonly unspoken: (tools: readonly string[]) => string;
  /** Returns the text for a failure with this code. */
  readonly failure: (code: string | undefined) => string;
}

/** Composes the reply of a run: the texts of its turns, and a note if the run did not simply end. */
export function composeRunReply(run: CompletedRun): Reply {
  const reply = composeReply(run.texts, getEnding(run), run.alreadySent, run.carries);
  const failure = reply.silent ? describeSilentFailure(run) : undefined;
  return failure === undefined ? reply : composeReply([], { note: failure }, []);
}

/** Returns whether the reply is complete or which note it gets. */
function getEnding({ result, notes }: CompletedRun): Ending {
  switch (result.reason) {
    case "done":
    case "aborted":
      return "complete";
    case "cut":
      return { note: notes.cutMark };
    case "refusal":
    case "filter":
      return result.text.trim() === "" ? { note: notes.declined } : "complete";
    case "limit":
      return { note: notes.limitReached(result.limit ?? "work") };
    case "repeated":
      return { note: notes.repeated };
    case "waiting":
      return { note: notes.waitsForApproval };
    case "error":
      return { note: notes.failure(result.error?.code) };
  }
}

/**
 * Returns a note about a run that ended silently after its last tool calls had failed, since people would wait for an
 * answer. There is no note if the model chose to be silent or a tool has sent a message. The errors may contain
 * anything, so only the tools are named.
 */
function describeSilentFailure({ result, texts, alreadySent, notes }: CompletedRun): string | undefined {
  const { reason, messages } = result;
  if (reason !== "done" || alreadySent.length > 0 || texts.some((text) => parseReply(text).silent))
    return undefined;
  const results: string[] = [];
  for (const message of messages.toReversed()) {
    if (message.role === "toolResult") {
      if (message.isError) results.unshift(message.toolName);
    } else if (message.role !== "assistant" || message.content.some(({ type }) => type === "toolCall")) break;
  }
  const failed = [...new Set(results)];
  return failed.length === 0 ? undefined : notes.unspoken(failed);
}
