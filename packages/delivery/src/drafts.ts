import { type Clock, type Json, reasonOf, systemClock, TokenBuckets } from "@signalbox/channel";
import type { AccountLookup } from "./account.ts";
import { type DraftNotes, draftNote } from "./draft-notes.ts";
import {
  type DraftPorts,
  type DraftTiming,
  type EndedDraft,
  GrowingDraft,
  type WatchedRun,
} from "./growing-draft.ts";
import type { DeliveryLogger } from "./logger.ts";
import type { Destination } from "./outbox.ts";

/** Small values by name, such as a store's key-value table. */
export interface NoteStore {
  get(namespace: string, key: string): Promise<Json | undefined>;
  set(namespace: string, key: string, value: Json, ttlMs: number): Promise<void>;
  delete(namespace: string, key: string): Promise<unknown>;
}

export interface DraftsOptions {
  readonly notes: NoteStore;
  /** Whether something waits for its way out to the same destination. */
  readonly hasOpen: (destination: Destination) => Promise<boolean>;
  readonly account: AccountLookup;
  /**
   * Whether answers are shown while they are written: everywhere, in direct conversations alone, or nowhere. Asked for
   * each run.
   */
  readonly stream: () => "draft" | "direct" | "off";
  /** Whether an answer may be shown before it is complete; not if it may still be changed or held back. */
  readonly mayShow: () => boolean;
  readonly timing?: DraftTiming | undefined;
  readonly logger: DeliveryLogger;
  /** Default: the machine's. */
  readonly clock?: Clock;
}

/** The messages at platforms that grow while a run writes. */
export interface Drafts {
  /** Finds what an earlier process noted about a continued run. */
  recall(runId: string): Promise<void>;
  /** What to call whenever the run has written something; undefined where nothing may be shown. */
  watch(run: WatchedRun): (() => void) | undefined;
  /** Whether people may have seen something of what this run writes. */
  isShown(runId: string): boolean;
  /** Ends the growing: nothing changes the message any more. Undefined if there is no draft. */
  end(runId: string): Promise<EndedDraft | undefined>;
  /** The outbox has what becomes of the draft. */
  settled(runId: string): void;
}

const NAMESPACE = "draft";
/** Runs do not wait longer for their restart; a draft of one that does stays as it is. */
const NOTE_MS = 7 * 24 * 60 * 60_000;

export function createDrafts(options: DraftsOptions): Drafts {
  const { account, stream, mayShow, hasOpen, logger, clock = systemClock } = options;
  const drafts = new Map<string, GrowingDraft>();
  const notes: DraftNotes = {
    get: async (runId) => draftNote(await options.notes.get(NAMESPACE, runId)),
    set: (runId, note) => options.notes.set(NAMESPACE, runId, { ...note }, NOTE_MS),
    async delete(runId) {
      await options.notes.delete(NAMESPACE, runId);
    },
  };
  const ports: DraftPorts = {
    account,
    notes,
    hasOpen,
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
      drafts.set(runId, new GrowingDraft(ports, runId, note));
    },

    watch(run) {
      const { channel, account: name, conversation } = run.event;
      const where = stream();
      if (where === "off" || (where === "direct" && conversation.kind !== "direct")) return undefined;
      if (account(channel, name)?.running.openDraft === undefined || !mayShow()) return undefined;
      const draft = drafts.get(run.runId) ?? new GrowingDraft(ports, run.runId);
      drafts.set(run.runId, draft);
      draft.watch(run);
      return () => draft.written();
    },

    isShown: (runId) => drafts.get(runId)?.isShown ?? false,

    end: async (runId) => drafts.get(runId)?.end(),

    settled(runId) {
      const draft = drafts.get(runId);
      drafts.delete(runId);
      if (draft?.isNoted !== true) return;
      notes.delete(runId).catch((error: unknown) => {
        // It goes by itself in time, and nobody asks for it.
        logger.debug({ run: runId, err: reasonOf(error) }, "the note of a draft was not removed");
      });
    },
  };
}
