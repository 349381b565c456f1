import { type Capabilities, type Clock, reasonOf } from "@signalbox/channel";
import type { JsonValue, Logger, RunId } from "@signalbox/store/types";
import type { WatchedRun } from "../drafts/growing-draft.ts";
import type { OutboxInsert, OutboxRow } from "../outbox.ts";
import { createAnswer, createOutboxKey, createOutboxRow, getPendingRows, REPLY_TTL_MS } from "../rows.ts";
import { type BlockRules, getFinishedBlockLength } from "./finished-block.ts";
import { getRemainingText } from "./remaining-text.ts";

export interface BlockContext {
  readonly rules: () => BlockRules & {
    /** Milliseconds without new text after which a block of the minimum length is finished. */
    readonly idleMs: number;
  };
  /** Returns the capabilities of a configured account, even if it is not running. */
  readonly capabilities: (channel: string, account: string) => Capabilities | undefined;
  /** Stores the texts of a run's blocks; the last one may not be in the outbox yet. */
  readonly note: (runId: RunId, blocks: readonly string[]) => Promise<void>;
  /** Adds a row of the run to the outbox. A known key returns the existing row. */
  readonly enqueue: (runId: RunId, row: OutboxInsert) => Promise<readonly OutboxRow[]>;
  readonly deliver: (rows: readonly OutboxRow[]) => void;
  readonly clock: Clock;
  readonly logger: Pick<Logger, "debug" | "warn">;
}

/** Minimum time between two scans of the text, in milliseconds, because a stream may have many small deltas. */
const SCAN_EVERY_MS = 100;

/**
 * The answer of one run. Finished blocks are sent while the rest is being written. Each block is noted before it is
 * added to the outbox under a separate key. A process that resumes the run therefore adds the last block if it is
 * missing, and no block is sent twice.
 */
export class AnswerInBlocks {
  readonly #context: BlockContext;
  readonly #runId: RunId;
  readonly #blocks: string[];
  /** Number of blocks that are certainly in the outbox. */
  #enqueued = 0;
  #run: WatchedRun | undefined;
  #pause: AbortController | undefined;
  #sending: Promise<void> | undefined;
  #scannedAt = 0;
  #isOver = false;

  /** @param blocks the blocks that an earlier process has noted */
  constructor(context: BlockContext, runId: RunId, blocks: readonly string[] = []) {
    this.#context = context;
    this.#runId = runId;
    this.#blocks = [...blocks];
  }

  watch(run: WatchedRun): void {
    this.#run = run;
    this.#isOver = false;
  }

  /** True if people may have read part of the answer. */
  get isShown(): boolean {
    return this.#blocks.length > 0 || this.#sending !== undefined;
  }

  /** Called whenever the run has written text. */
  written(): void {
    const { clock, rules } = this.#context;
    this.#pause?.abort();
    if (clock.now() - this.#scannedAt >= SCAN_EVERY_MS) this.#scan(false);
    if (this.#isOver || this.#sending !== undefined) return;
    const pause = new AbortController();
    this.#pause = pause;
    clock.delay(rules().idleMs, AbortSignal.any([pause.signal, this.#getSignal()])).then(
      () => this.#scan(true),
      () => {},
    );
  }

  /** Stops sending blocks. Returns those that were sent. @throws StoreError */
  async end(): Promise<readonly string[]> {
    this.#isOver = true;
    this.#pause?.abort();
    await this.#sending;
    if (this.#enqueued < this.#blocks.length) await this.#enqueueNoted();
    return this.#blocks;
  }

  /** Sends the next block if it is finished, and scans again once the block is in the outbox. */
  #scan(isIdle: boolean): void {
    this.#scannedAt = this.#context.clock.now();
    const block = this.#sending === undefined ? this.#getNextBlock(isIdle) : undefined;
    if (block === undefined) return;
    this.#sending = this.#send(block).then(
      () => {
        this.#sending = undefined;
        this.#scannedAt = 0;
        this.written();
      },
      (error: unknown) => {
        this.#sending = undefined;
        this.#context.logger.warn(
          { run: this.#runId, err: reasonOf(error) },
          "a block of an answer could not be sent",
        );
      },
    );
  }

  #getNextBlock(isIdle: boolean): string | undefined {
    const run = this.#run;
    if (run === undefined || this.#isOver || this.#getSignal().aborted) return undefined;
    const { text, continues } = getRemainingText(run.visible(), this.#blocks);
    const length = continues ? getFinishedBlockLength(text, this.#context.rules(), isIdle) : 0;
    return length === 0 ? undefined : text.slice(0, length).trimEnd();
  }

  async #send(block: string): Promise<void> {
    // A block that could not be added earlier goes first, because its note may have been stored.
    if (this.#enqueued < this.#blocks.length) return this.#enqueueNoted();
    await this.#context.note(this.#runId, [...this.#blocks, block]);
    this.#blocks.push(block);
    await this.#enqueueNoted();
  }

  async #enqueueNoted(): Promise<void> {
    const run = this.#run;
    if (run === undefined) return;
    while (this.#enqueued < this.#blocks.length) {
      const index = this.#enqueued;
      const row = this.#toRow(run, this.#blocks[index] ?? "", index);
      const added = row === undefined ? [] : await this.#context.enqueue(this.#runId, row);
      this.#enqueued = index + 1;
      this.#context.deliver(getPendingRows(added));
    }
  }

  #toRow({ event }: WatchedRun, text: string, index: number): OutboxInsert | undefined {
    const { capabilities, clock } = this.#context;
    // Only the first block quotes the answered message.
    const replyTo = index === 0 ? event.messageId : "";
    const payload = createAnswer(text, replyTo, capabilities(event.channel, event.account));
    if (payload === undefined) return undefined;
    const row = createOutboxRow(event, payload, { expiresAt: clock.now() + REPLY_TTL_MS, claim: false });
    return { ...row, key: createOutboxKey("block", this.#runId, String(index)) };
  }

  #getSignal(): AbortSignal {
    return this.#run?.signal ?? AbortSignal.abort();
  }
}

/** Parses the note of a run's blocks. */
export function parseNotedBlocks(value: JsonValue | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((block) => typeof block === "string") : [];
}
