import { type Clock, reasonOf, systemClock } from "@signalbox/channel";
import type { KvStore, RunId } from "@signalbox/store/types";
import type { AccountLookup } from "../account.ts";
import type { WatchedRun } from "../drafts/growing-draft.ts";
import { AnswerInBlocks, type BlockContext, parseNotedBlocks } from "./answer-in-blocks.ts";

export interface BlockRepliesOptions extends Omit<BlockContext, "note" | "clock"> {
  /**
   * Returns when to send blocks; called for each run. `without-edits`: on platforms whose messages cannot be edited, so
   * that an answer cannot grow in one message.
   */
  readonly when: () => "off" | "without-edits" | "always";
  readonly account: AccountLookup;
  /** Returns true if an answer may be shown before it is complete, and false if it may still be changed or withheld. */
  readonly mayShow: () => boolean;
  /** Stores the blocks of each run, for a process that resumes it. */
  readonly notes: Pick<KvStore, "get" | "set" | "delete">;
  /** Default: the system clock. */
  readonly clock?: Clock;
}

/** Sends long answers block by block while they are being written. */
export interface BlockReplies {
  /** Restores the blocks of a resumed run from the note of an earlier process. */
  recall(runId: RunId): Promise<void>;
  /**
   * Starts sending a run's blocks.
   *
   * @returns a function to call whenever the run has written text; `undefined` if the answer is sent as a whole
   */
  watch(run: WatchedRun): (() => void) | undefined;
  /** Returns true if people may have read part of this run's answer. */
  isShown(runId: RunId): boolean;
  /**
   * Stops sending blocks.
   *
   * @returns the sent blocks, which the final reply omits
   * @throws StoreError if a block could not be added to the outbox
   */
  end(runId: RunId): Promise<readonly string[]>;
  /** Deletes the note of a run once its reply is in the outbox. */
  complete(runId: RunId): void;
}

const NAMESPACE = "blocks";
/** Lifetime of a note in milliseconds. Runs are always resumed sooner. */
const NOTE_TTL_MS = 7 * 24 * 60 * 60_000;

export function createBlockReplies(options: BlockRepliesOptions): BlockReplies {
  const { when, account, mayShow, notes, logger, clock = systemClock } = options;
  const answers = new Map<RunId, AnswerInBlocks>();
  const context: BlockContext = {
    ...options,
    clock,
    note: (runId, blocks) => notes.set(NAMESPACE, runId, blocks, NOTE_TTL_MS),
  };

  const isEnabled = ({ event }: WatchedRun): boolean => {
    const running = account(event.channel, event.account);
    const setting = when();
    if (setting === "off" || running === undefined || !mayShow()) return false;
    const { readsSession, awaitsSingleAnswer, edit } = running.definition.capabilities;
    if (readsSession === true || awaitsSingleAnswer === true) return false;
    return setting === "always" || (edit === undefined && running.running.openDraft === undefined);
  };

  return {
    async recall(runId) {
      if (answers.has(runId)) return;
      const blocks = parseNotedBlocks(await notes.get(NAMESPACE, runId));
      if (blocks.length > 0) answers.set(runId, new AnswerInBlocks(context, runId, blocks));
    },

    watch(run) {
      const answer =
        answers.get(run.runId) ?? (isEnabled(run) ? new AnswerInBlocks(context, run.runId) : undefined);
      if (answer === undefined) return undefined;
      answers.set(run.runId, answer);
      answer.watch(run);
      return () => answer.written();
    },

    isShown: (runId) => answers.get(runId)?.isShown ?? false,

    end: async (runId) => (await answers.get(runId)?.end()) ?? [],

    complete(runId) {
      const answer = answers.get(runId);
      answers.delete(runId);
      if (answer?.isShown !== true) return;
      notes.delete(NAMESPACE, runId).catch((error: unknown) => {
        // Ignored, because the note expires and nobody reads it.
        logger.debug({ run: runId, err: reasonOf(error) }, "the note of an answer's blocks was not deleted");
      });
    },
  };
}
