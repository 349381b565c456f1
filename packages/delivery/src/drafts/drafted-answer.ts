import type { Capabilities } from "@signalbox/channel";
import type { RunId } from "@signalbox/store/types";
import { getRemainingText } from "../blocks/remaining-text.ts";
import type { DeliveryMessage, DraftReference, OutboxInsert, OutboxRow } from "../outbox.ts";
import { createAnswer, createOutboxKey, createOutboxRow, getPendingRows, REPLY_TTL_MS } from "../rows.ts";
import type { AnswerNote, AnswerNotes, DraftNote, Segment } from "./draft-notes.ts";
import { withDraft } from "./finish-draft.ts";
import { type DraftContext, GrowingDraft, type WatchedRun } from "./growing-draft.ts";

export interface AnswerContext extends DraftContext {
  readonly notes: AnswerNotes;
  /** Returns the capabilities of a configured account, even if it is not running. */
  readonly capabilities: (channel: string, account: string) => Capabilities | undefined;
  /** Adds a row to the outbox, or returns the row with the same key. */
  readonly enqueue: (runId: RunId, row: OutboxInsert) => Promise<readonly OutboxRow[]>;
  readonly deliver: (rows: readonly OutboxRow[]) => void;
}

/** The messages that show a run's answer, after the run has ended. */
export interface EndedDraft {
  /** The draft of the last message. Absent if it has none, or if it was a preview. */
  readonly reference?: DraftReference;
  /** The text of the last message, in case no reply follows. */
  readonly text: string;
  /** The texts of the messages above. The final reply omits them. */
  readonly segments: readonly string[];
}

/**
 * The answer of one run, as people see it while it is being written. It has one message, which grows, until a question
 * to a person interrupts it. The text above the question is then completed as a segment, and later text appears below
 * in a new message. Each segment is noted before it is added to the outbox under its own key. A process that resumes
 * the run therefore adds the last segment if it is missing, and no segment is sent twice.
 */
export class DraftedAnswer {
  readonly #context: AnswerContext;
  readonly #runId: RunId;
  readonly #segments: Segment[];
  /** Number of segments that are certainly in the outbox. */
  #enqueued = 0;
  #draft: GrowingDraft;
  #run: WatchedRun | undefined;
  #noted: boolean;
  /** The last operation. Operations run one at a time. */
  #last: Promise<unknown> = Promise.resolve();

  /** @param note the note of an earlier process */
  constructor(context: AnswerContext, runId: RunId, note?: AnswerNote) {
    this.#context = context;
    this.#runId = runId;
    this.#segments = [...(note?.segments ?? [])];
    this.#noted = note !== undefined;
    this.#draft = this.#createDraft(note?.current);
  }

  watch(run: WatchedRun): void {
    this.#run = run;
    this.#draft.watch({
      ...run,
      visible: () => this.#getRemaining(run.visible()),
      // Attachments are not part of the segments, so only a whole answer can name them.
      standing: () => (this.#segments.length === 0 ? run.standing() : this.#getRemaining(run.visible())),
    });
  }

  /** Called whenever the run has written text. */
  written(): void {
    this.#draft.written();
  }

  /** True if people may have seen part of the answer. */
  get isShown(): boolean {
    return this.#segments.length > 0 || this.#draft.isShown;
  }

  /** True if a note must be deleted. */
  get isNoted(): boolean {
    return this.#noted;
  }

  /** Resumes after `end`, because the run is retried. */
  reopen(): Promise<void> {
    return this.#inTurn(() => this.#draft.reopen());
  }

  /** See `Drafts.startNewMessage`. */
  startNewMessage(): Promise<void> {
    return this.#inTurn(async () => {
      const run = this.#run;
      if (run === undefined) return;
      await this.#enqueueSegments(run);
      const closed = await this.#draft.end();
      const text = this.#getRemaining(run.visible());
      if (closed === undefined && text === "") return this.#draft.reopen();
      const segment: Segment = { text, draft: closed?.reference };
      try {
        await this.#setNote({ segments: [...this.#segments, segment] });
      } catch (error) {
        // The answer continues in the same message.
        await this.#draft.reopen();
        throw error;
      }
      this.#segments.push(segment);
      this.#draft = this.#createDraft();
      this.watch(run);
      await this.#enqueueSegments(run);
    });
  }

  /** Stops all changes of the messages. Resolves with `undefined` if nothing was shown. @throws StoreError */
  end(): Promise<EndedDraft | undefined> {
    return this.#inTurn(async () => {
      const closed = await this.#draft.end();
      if (this.#run !== undefined) await this.#enqueueSegments(this.#run);
      if (closed === undefined && this.#segments.length === 0) return undefined;
      return { text: "", ...closed, segments: this.#getTexts() };
    });
  }

  #createDraft(note?: DraftNote): GrowingDraft {
    return new GrowingDraft(this.#context, {
      runId: this.#runId,
      index: this.#segments.length,
      note,
      setNote: (current) => this.#setNote({ current, segments: this.#segments }),
    });
  }

  async #setNote(note: AnswerNote): Promise<void> {
    await this.#context.notes.set(this.#runId, note);
    this.#noted = true;
  }

  async #enqueueSegments(run: WatchedRun): Promise<void> {
    while (this.#enqueued < this.#segments.length) {
      const index = this.#enqueued;
      const row = this.#toRow(run, this.#segments[index], index);
      const added = row === undefined ? [] : await this.#context.enqueue(this.#runId, row);
      this.#enqueued = index + 1;
      this.#context.deliver(getPendingRows(added));
    }
  }

  #toRow({ event }: WatchedRun, segment: Segment | undefined, index: number): OutboxInsert | undefined {
    const { capabilities, clock } = this.#context;
    if (segment === undefined) return undefined;
    const { text, draft } = segment;
    const answer =
      text === ""
        ? undefined
        : createAnswer(text, event.messageId, capabilities(event.channel, event.account));
    const payload: DeliveryMessage | undefined = withDraft(answer, draft);
    if (payload === undefined) return undefined;
    const row = createOutboxRow(event, payload, { expiresAt: clock.now() + REPLY_TTL_MS, claim: false });
    return { ...row, key: createOutboxKey("segment", this.#runId, String(index)) };
  }

  #getTexts(): readonly string[] {
    return this.#segments.flatMap(({ text }) => (text === "" ? [] : [text]));
  }

  #getRemaining(text: string): string {
    return getRemainingText(text, this.#getTexts()).text;
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => {});
    return done;
  }
}
