import { type Capabilities, type Clock, type Json, reasonOf } from "@signalbox/channel";
import type { WatchedRun } from "../growing-draft.ts";
import type { DeliveryLogger } from "../logger.ts";
import type { OutboxInsert, OutboxRow } from "../outbox.ts";
import { answerTo, outboxKey, outboxRow, pendingRows, REPLY_TTL_MS } from "../rows.ts";
import { type BlockRules, finishedBlock } from "./finished-block.ts";
import { unsaid } from "./unsaid.ts";

export interface BlockPorts<Row extends OutboxRow, RunId extends string> {
  readonly rules: () => BlockRules & {
    /** How long nothing is written, in milliseconds, until a block is finished that could be longer. */
    readonly idleMs: number;
  };
  /** What a configured account can do, whether it runs just now or not. */
  readonly capabilities: (channel: string, account: string) => Capabilities | undefined;
  /** Keeps the texts of a run's blocks; the last may not be in the outbox yet. */
  readonly note: (runId: RunId, blocks: readonly string[]) => Promise<void>;
  /** Puts a row into the outbox as one of the run's; the same key again gives the same row. */
  readonly enqueue: (runId: RunId, row: OutboxInsert) => Promise<readonly Row[]>;
  readonly deliver: (rows: readonly Row[]) => void;
  readonly clock: Clock;
  readonly logger: DeliveryLogger;
}

/** What was written is not read more often than that, however small its pieces are. */
const LOOK_EVERY_MS = 100;

/**
 * The answer of one run, whose finished blocks are sent while the rest is written. Each is noted before it goes into
 * the outbox under a key of its own. So the process that continues the run adds the last one if it is missing, and none
 * is sent twice.
 */
export class AnswerInBlocks<Row extends OutboxRow, RunId extends string> {
  readonly #ports: BlockPorts<Row, RunId>;
  readonly #runId: RunId;
  readonly #blocks: string[];
  /** How many of them are in the outbox for certain. */
  #enqueued = 0;
  #run: WatchedRun<RunId> | undefined;
  #pause: AbortController | undefined;
  #sending: Promise<void> | undefined;
  #lookedAt = 0;
  #isOver = false;

  /** @param blocks what an earlier process noted */
  constructor(ports: BlockPorts<Row, RunId>, runId: RunId, blocks: readonly string[] = []) {
    this.#ports = ports;
    this.#runId = runId;
    this.#blocks = [...blocks];
  }

  watch(run: WatchedRun<RunId>): void {
    this.#run = run;
    this.#isOver = false;
  }

  get isSaid(): boolean {
    return this.#blocks.length > 0 || this.#sending !== undefined;
  }

  /** The run has written something. */
  written(): void {
    const { clock, rules } = this.#ports;
    this.#pause?.abort();
    if (clock.now() - this.#lookedAt >= LOOK_EVERY_MS) this.#look(false);
    if (this.#isOver || this.#sending !== undefined) return;
    const pause = new AbortController();
    this.#pause = pause;
    clock.delay(rules().idleMs, AbortSignal.any([pause.signal, this.#signal()])).then(
      () => this.#look(true),
      () => {},
    );
  }

  /** No block comes after this. Gives those that were said. @throws what the store throws */
  async end(): Promise<readonly string[]> {
    this.#isOver = true;
    this.#pause?.abort();
    await this.#sending;
    if (this.#enqueued < this.#blocks.length) await this.#enqueueNoted();
    return this.#blocks;
  }

  /** Sends the next block where it is finished, and looks again once it is in the outbox. */
  #look(isIdle: boolean): void {
    this.#lookedAt = this.#ports.clock.now();
    const block = this.#sending === undefined ? this.#nextBlock(isIdle) : undefined;
    if (block === undefined) return;
    this.#sending = this.#say(block).then(
      () => {
        this.#sending = undefined;
        this.#lookedAt = 0;
        this.written();
      },
      (error: unknown) => {
        this.#sending = undefined;
        this.#ports.logger.warn({ run: this.#runId, err: reasonOf(error) }, "a block could not be sent");
      },
    );
  }

  #nextBlock(isIdle: boolean): string | undefined {
    const run = this.#run;
    if (run === undefined || this.#isOver || this.#signal().aborted) return undefined;
    const { text, goesOn } = unsaid(run.visible(), this.#blocks);
    const length = goesOn ? finishedBlock(text, this.#ports.rules(), isIdle) : 0;
    return length === 0 ? undefined : text.slice(0, length).trimEnd();
  }

  async #say(block: string): Promise<void> {
    // One that the store did not take is said first: it may be on record all the same.
    if (this.#enqueued < this.#blocks.length) return this.#enqueueNoted();
    await this.#ports.note(this.#runId, [...this.#blocks, block]);
    this.#blocks.push(block);
    await this.#enqueueNoted();
  }

  async #enqueueNoted(): Promise<void> {
    const run = this.#run;
    if (run === undefined) return;
    while (this.#enqueued < this.#blocks.length) {
      const index = this.#enqueued;
      const row = this.#rowOf(run, this.#blocks[index] ?? "", index);
      const added = row === undefined ? [] : await this.#ports.enqueue(this.#runId, row);
      this.#enqueued = index + 1;
      this.#ports.deliver(pendingRows(added));
    }
  }

  #rowOf({ event }: WatchedRun<RunId>, text: string, index: number): OutboxInsert | undefined {
    const { capabilities, clock } = this.#ports;
    // The first one answers the message; the others go on from it.
    const replyTo = index === 0 ? event.messageId : "";
    const payload = answerTo(text, replyTo, capabilities(event.channel, event.account));
    if (payload === undefined) return undefined;
    const row = outboxRow(event, payload, { expiresAt: clock.now() + REPLY_TTL_MS, claim: false });
    return { ...row, key: blockKey(this.#runId, index) };
  }

  #signal(): AbortSignal {
    return this.#run?.signal ?? AbortSignal.abort();
  }
}

/** The key of a run's block, the same in every process that continues the run. */
function blockKey(runId: string, index: number): string {
  return outboxKey("block", runId, String(index));
}

/** Blocks as they were noted. */
export function notedBlocks(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((block) => typeof block === "string") : [];
}
