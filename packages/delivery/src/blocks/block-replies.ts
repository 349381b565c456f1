import { type Clock, reasonOf, systemClock } from "@signalbox/channel";
import type { AccountLookup } from "../account.ts";
import type { NoteStore } from "../drafts.ts";
import type { WatchedRun } from "../growing-draft.ts";
import type { OutboxRow } from "../outbox.ts";
import { AnswerInBlocks, type BlockPorts, notedBlocks } from "./answer-in-blocks.ts";

export interface BlockRepliesOptions<Row extends OutboxRow, RunId extends string>
  extends Omit<BlockPorts<Row, RunId>, "note" | "clock"> {
  /**
   * `without-edits`: where the platform's messages cannot be changed, so that an answer cannot grow in one. Asked for
   * each run.
   */
  readonly when: () => "off" | "without-edits" | "always";
  readonly account: AccountLookup;
  /** Whether parts of an answer may be sent before it is complete; not if it may still be changed or held back. */
  readonly mayShow: () => boolean;
  readonly notes: NoteStore;
  /** Default: the machine's. */
  readonly clock?: Clock;
}

/** Long answers that are sent block by block while they are written. */
export interface BlockReplies<RunId extends string = string> {
  /** Finds what an earlier process has sent of a continued run. */
  recall(runId: RunId): Promise<void>;
  /** What to call whenever the run has written something; undefined where its answer is sent as a whole. */
  watch(run: WatchedRun<RunId>): (() => void) | undefined;
  /** Whether people may have read something of what this run writes. */
  isShown(runId: RunId): boolean;
  /**
   * Ends the sending of blocks. Gives those that were said, which the reply leaves out. @throws what the store throws
   */
  end(runId: RunId): Promise<readonly string[]>;
  /** The reply is in the outbox. */
  settled(runId: RunId): void;
}

const NAMESPACE = "blocks";
/** Runs do not wait longer for their restart. */
const NOTE_MS = 7 * 24 * 60 * 60_000;

export function createBlockReplies<Row extends OutboxRow, RunId extends string = string>(
  options: BlockRepliesOptions<Row, RunId>,
): BlockReplies<RunId> {
  const { when, account, mayShow, notes, logger, clock = systemClock } = options;
  const answers = new Map<RunId, AnswerInBlocks<Row, RunId>>();
  const ports: BlockPorts<Row, RunId> = {
    ...options,
    clock,
    note: (runId, blocks) => notes.set(NAMESPACE, runId, blocks, NOTE_MS),
  };

  const isWanted = ({ event }: WatchedRun): boolean => {
    const running = account(event.channel, event.account);
    const wanted = when();
    if (wanted === "off" || running === undefined || !mayShow()) return false;
    const { readsSession, awaitsSingleAnswer, edit } = running.definition.capabilities;
    if (readsSession === true || awaitsSingleAnswer === true) return false;
    return wanted === "always" || (edit === undefined && running.running.openDraft === undefined);
  };

  return {
    async recall(runId) {
      if (answers.has(runId)) return;
      const blocks = notedBlocks(await notes.get(NAMESPACE, runId));
      if (blocks.length > 0) answers.set(runId, new AnswerInBlocks(ports, runId, blocks));
    },

    watch(run) {
      const answer =
        answers.get(run.runId) ?? (isWanted(run) ? new AnswerInBlocks(ports, run.runId) : undefined);
      if (answer === undefined) return undefined;
      answers.set(run.runId, answer);
      answer.watch(run);
      return () => answer.written();
    },

    isShown: (runId) => answers.get(runId)?.isSaid ?? false,

    end: async (runId) => (await answers.get(runId)?.end()) ?? [],

    settled(runId) {
      const answer = answers.get(runId);
      answers.delete(runId);
      if (answer?.isSaid !== true) return;
      notes.delete(NAMESPACE, runId).catch((error: unknown) => {
        // It goes by itself in time, and nobody asks for it.
        logger.debug({ run: runId, err: reasonOf(error) }, "the note of an answer's blocks was not removed");
      });
    },
  };
}
