import type { RunResult } from "@signalbox/agent-core";
import { composeReply, type Ending, type Reply } from "./compose.ts";
import { parseReply } from "./parse.ts";

/** A run that is over, as far as its reply depends on it. */
export interface RepliedRun {
  readonly result: RunResult;
  /** One text a model turn. */
  readonly texts: readonly string[];
  /** Texts that a tool has sent to this very conversation. */
  readonly alreadySent: readonly string[];
  /** Attachments go out with the reply, so that it does not name them. */
  readonly carries: boolean;
  /** What people are told of an end other than the model's own. */
  readonly notes: EndNotes;
}

/** Words about how a run ended. */
interface EndNotes {
  /** Behind an answer that reached the limit of the model's output. */
  readonly cutMark: string;
  readonly declined: string;
  readonly limitReached: (limit: string) => string;
  readonly repeated: string;
  readonly waitsForApproval: string;
  readonly unspoken: (tools: readonly string[]) => string;
  /** Of a failure with this code. */
  readonly failure: (code: string | undefined) => string;
}

/** What a run has to say in the end: its turns' words, and a note where it did not end simply by itself. */
export function composeRunReply(run: RepliedRun): Reply {
  const said = composeReply(run.texts, endingOf(run), run.alreadySent, run.carries);
  const failure = said.silent ? unspokenFailure(run) : undefined;
  return failure === undefined ? said : composeReply([], { note: failure }, []);
}

/** What a person is told about an end other than the model's own. */
function endingOf({ result, notes }: RepliedRun): Ending {
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
 * What people are told of a run that ended without a word after the tools it called last had failed: they would wait
 * for an answer that does not come. Nothing where the model chose to be silent, or its tool has spoken for it. The
 * error itself may hold anything, so only the tools are named.
 */
function unspokenFailure({ result, texts, alreadySent, notes }: RepliedRun): string | undefined {
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
