import { type Clock, reasonOf, systemClock, TokenBuckets } from "@signalbox/channel";
import type { KvStore, Logger, RunId } from "@signalbox/store/types";
import type { AccountLookup } from "../account.ts";
import type { GetLeaseMs } from "../lease-limit.ts";
import type { Destination } from "../outbox.ts";
import { parseAnswerNote, toNoteValue } from "./draft-notes.ts";
import { type AnswerContext, DraftedAnswer, type EndedDraft } from "./drafted-answer.ts";
import type { DraftTiming, WatchedRun } from "./growing-draft.ts";

export interface DraftsOptions extends Pick<AnswerContext, "capabilities" | "enqueue" | "deliver"> {
  /** Stores where drafts are, for a process that resumes their run. */
  readonly notes: Pick<KvStore, "get" | "set" | "delete">;
  /** Returns true if a row for the same destination is waiting to be sent. */
  readonly hasOpen: (destination: Destination) => Promise<boolean>;
  readonly account: AccountLookup;
  /**
   * Determines where answers are shown while they are being written. Called for each run. `direct`: only in direct
   * chats.
   */
  readonly stream: () => "draft" | "direct" | "off";
  /** Returns true if an answer may be shown before it is complete, and false if it may still be changed or withheld. */
  readonly mayShow: () => boolean;
  /**
   * Returns the remaining duration of the lease in milliseconds, if other processes can take runs over. Drafts are not
   * changed shortly before its end and after it.
   */
  readonly getLeaseMs?: GetLeaseMs | undefined;
  readonly timing?: DraftTiming;
  readonly logger: Pick<Logger, "debug" | "warn">;
  /** Default: the system clock. */
  readonly clock?: Clock;
}

/** Platform messages that show answers while they are being written. */
export interface Drafts {
  /** Restores the draft of a resumed run from the note of an earlier process. */
  recall(runId: RunId): Promise<void>;
  /**
   * Starts showing a run's answer.
   *
   * @returns a function to call whenever the run has written text; `undefined` if nothing may be shown
   */
  watch(run: WatchedRun): (() => void) | undefined;
  /** Returns true if people may have seen part of this run's answer. */
  isShown(runId: RunId): boolean;
  /**
   * Completes the message that shows the answer so far. Text that the run writes later appears in a new message. Call
   * this before a question to a person is added to the outbox, so that the rest of the answer follows the question.
   *
   * @throws StoreError if the completed message could not be stored. The answer then continues in it, or `end` stores
   * it.
   */
  startNewMessage(runId: RunId): Promise<void>;
  /**
   * Stops all changes of the messages. Resolves with `undefined` if nothing was shown.
   *
   * @throws StoreError if a completed message could not be added to the outbox
   */
  end(runId: RunId): Promise<EndedDraft | undefined>;
  /** Deletes the note of an answer once the outbox has its final message. */
  complete(runId: RunId): void;
}

const NAMESPACE = "draft";
/**
 * Lifetime of a note in milliseconds. Runs are always resumed sooner. If a run is not resumed, its draft stays
 * unchanged.
 */
const NOTE_TTL_MS = 7 * 24 * 60 * 60_000;

export function createDrafts(options: DraftsOptions): Drafts {
  const { account, stream, mayShow, logger, clock = systemClock } = options;
  const answers = new Map<RunId, DraftedAnswer>();
  const context: AnswerContext = {
    ...options,
    notes: {
      get: async (runId) => parseAnswerNote(await options.notes.get(NAMESPACE, runId)),
      set: (runId, note) => options.notes.set(NAMESPACE, runId, toNoteValue(note), NOTE_TTL_MS),
      async delete(runId) {
        await options.notes.delete(NAMESPACE, runId);
      },
    },
    getLeaseMs: options.getLeaseMs,
    clock,
    buckets: new TokenBuckets(clock.now),
    timing: { afterMs: 1_000, everyMs: 700, endMs: 20_000, ...options.timing },
  };

  return {
    async recall(runId) {
      const answer = answers.get(runId);
      if (answer !== undefined) return answer.reopen();
      const note = await context.notes.get(runId);
      if (note === undefined) return;
      const { current, segments } = note;
      // Without a message id, only the key identifies the draft, and the key has expired.
      const isLost = current?.messageId === undefined && clock.now() >= (current?.until ?? 0);
      if (isLost && segments.length === 0) return;
      answers.set(runId, new DraftedAnswer(context, runId, isLost ? { segments } : note));
    },

    watch(run) {
      const { channel, account: name, conversation } = run.event;
      const where = stream();
      if (where === "off" || (where === "direct" && conversation.kind !== "direct")) return undefined;
      if (account(channel, name)?.running.openDraft === undefined || !mayShow()) return undefined;
      const answer = answers.get(run.runId) ?? new DraftedAnswer(context, run.runId);
      answers.set(run.runId, answer);
      answer.watch(run);
      return () => answer.written();
    },

    isShown: (runId) => answers.get(runId)?.isShown ?? false,

    startNewMessage: async (runId) => answers.get(runId)?.startNewMessage(),

    end: async (runId) => answers.get(runId)?.end(),

    complete(runId) {
      const answer = answers.get(runId);
      answers.delete(runId);
      if (answer?.isNoted !== true) return;
      context.notes.delete(runId).catch((error: unknown) => {
        // Ignored, because the note expires and nobody reads it.
        logger.debug({ run: runId, err: reasonOf(error) }, "the note of a draft could not be deleted");
      });
    },
  };
}
