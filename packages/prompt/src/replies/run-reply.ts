import type { AgentMessage, RunResult } from "@signalbox/agent-core";
import { composeReply, type Ending, type Reply } from "./compose.ts";
import { hasActedHere } from "./find-sent-texts.ts";
import { parseReply } from "./parse.ts";

/** The properties of a completed run that its reply depends on. */
export interface CompletedRun {
  readonly result: RunResult;
  /** One text per model turn. */
  readonly texts: readonly string[];
  /** Texts that a tool has sent to this conversation. */
  readonly alreadySent: readonly string[];
  /** True if attachments are sent with the reply, so that the text does not mention them. */
  readonly carries: boolean;
  /** True if a person is waiting for an answer, so that an empty one gets a note. */
  readonly awaited: boolean;
  /** Notes for runs that did not end with a normal answer. */
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
  readonly emptyAnswer: string;
  /** Returns the text for a failure with this code. */
  readonly failure: (code: string | undefined) => string;
}

/**
 * Composes the reply of a run: the texts of its turns, and a note if the run did not end normally. A run that ends
 * without text also gets a note, because people would otherwise wait for an answer. Tool errors may contain anything,
 * so the note only lists the names of the tools.
 */
export function composeRunReply(run: CompletedRun): Reply {
  const reply = composeReply(run.texts, getEnding(run), run.alreadySent, run.carries);
  if (!reply.silent || isIntended(run)) return reply;
  const { result, awaited, notes } = run;
  const failed = findFailedTools(result.messages);
  const empty = awaited ? notes.emptyAnswer : undefined;
  const note = failed.length === 0 ? empty : notes.unspoken(failed);
  return { ...(note === undefined ? reply : composeReply([], { note }, [])), empty: true };
}

/** Returns true if the model chose to be silent, used the message tool instead, or was stopped. */
function isIntended({ result, texts, alreadySent }: CompletedRun): boolean {
  if (result.reason !== "done" || alreadySent.length > 0) return true;
  return texts.some((text) => parseReply(text).silent) || hasActedHere(result.messages);
}

/** Returns the ending of the reply: complete, or a note. */
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

/** Returns the names of the tools whose last calls failed. */
function findFailedTools(messages: readonly AgentMessage[]): string[] {
  const results: string[] = [];
  for (const message of messages.toReversed()) {
    if (message.role === "toolResult") {
      if (message.isError) results.unshift(message.toolName);
    } else if (message.role !== "assistant" || message.content.some(({ type }) => type === "toolCall")) break;
  }
  return [...new Set(results)];
}
