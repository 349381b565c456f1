import { type Clock, reasonOf, systemClock, TokenBuckets } from "@signalbox/channel";
import type { KvStore, Logger } from "@signalbox/store/types";
import type { AccountLookup } from "../account.ts";
import type { GetLeaseMs } from "../lease-limit.ts";
import type { Destination } from "../outbox.ts";
import { type DraftNotes, parseDraftNote } from "./draft-notes.ts";
import {
  type DraftContext,
  type DraftTiming,
  type EndedDraft,
  GrowingDraft,
  type WatchedRun,
} from "./growing-draft.ts";

export interface DraftsOptions {
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
  recall(runId: string): Promise<void>;
  /**
   * Starts showing a run's answer.
   *
   * @returns a function to call whenever the run has written text; `undefined` if nothing may be shown
   */
  watch(run: WatchedRun): (() => void) | undefined;
  /** Returns true if people may have seen part of this run's answer. */
  isShown(runId: string): boolean;
  /** Stops all changes of the message. Resolves with `undefined` if there is no draft. */
  end(runId: string): Promise<EndedDraft | undefined>;
  /** Deletes the note of a draft once the outbox has its final message. */
  complete(runId: string): void;
}

const NAMESPACE = "draft";
/**
 * Lifetime of a note in milliseconds. Runs are always resumed sooner. If a run is not resumed, its draft stays
 * unchanged.
 */
const NOTE_TTL_MS = 7 * 24 * 60 * 60_000;

export function createDrafts(options: DraftsOptions): Drafts {
  const { account, stream, mayShow, hasOpen, logger, clock = systemClock } = options;
  const drafts = new Map<string, GrowingDraft>();
  const notes: DraftNotes = {
    get: async (runId) => parseDraftNote(await options.notes.get(NAMESPACE, runId)),
    set: (runId, { until, messageId }) =>
      options.notes.set(
        NAMESPACE,
        runId,
        messageId === undefined ? { until } : { until, messageId },
        NOTE_TTL_MS,
      ),
    async delete(runId) {
      await options.notes.delete(NAMESPACE, runId);
    },
  };
  const context: DraftContext = {
    account,
    notes,
    hasOpen,
    getLeaseMs: options.getLeaseMs,
    logger,
    clock,
    buckets: new TokenBuckets(clock.now),
    timing: { afterMs: 1_000, everyMs: 700, endMs: 20_000, ...options.timing },
  };

  return {
    async recall(runId) {
      const draft = drafts.get(runId);
      if (draft !== undefined) return draft.reopen();
      const note = await notes.get(runId);
      if (note === undefined || (note.messageId === undefined && clock.now() >= note.until)) return;
      drafts.set(runId, new GrowingDraft(context, runId, note));
    },

    watch(run) {
      const { channel, account: name, conversation } = run.event;
      const where = stream();
      if (where === "off" || (where === "direct" && conversation.kind !== "direct")) return undefined;
      if (account(channel, name)?.running.openDraft === undefined || !mayShow()) return undefined;
      const draft = drafts.get(run.runId) ?? new GrowingDraft(context, run.runId);
      drafts.set(run.runId, draft);
      draft.watch(run);
      return () => draft.written();
    },

    isShown: (runId) => drafts.get(runId)?.isShown ?? false,

    end: async (runId) => drafts.get(runId)?.end(),

    complete(runId) {
      const draft = drafts.get(runId);
      drafts.delete(runId);
      if (draft?.isNoted !== true) return;
      notes.delete(runId).catch((error: unknown) => {
        // Ignored, because the note expires and nobody reads it.
        logger.debug({ run: runId, err: reasonOf(error) }, "the note of a draft could not be deleted");
      });
    },
  };
}
