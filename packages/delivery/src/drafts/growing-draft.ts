import { hash } from "node:crypto";
import {
  type Clock,
  type Draft,
  isChannelError,
  type MessageEvent,
  reasonOf,
  type TokenBuckets,
} from "@signalbox/channel";
import type { Logger, RunId } from "@signalbox/store/types";
import type { AccountLookup, DeliveryAccount } from "../account.ts";
import { type GetLeaseMs, isLeaseHeld } from "../lease-limit.ts";
import type { Destination, DraftReference } from "../outbox.ts";
import { getReducedRates } from "../rates.ts";
import { getDestinationKey } from "../rows.ts";
import type { DraftNote } from "./draft-notes.ts";
import { Preview } from "./preview.ts";

/** All in milliseconds. */
export interface DraftTiming {
  /** Delay from the first text of a run to its draft. If an answer ends sooner, it has no draft. Default: 1,000. */
  readonly afterMs?: number;
  /** Minimum time between two changes of a draft. Default 700. */
  readonly everyMs?: number;
  /** Maximum time that the end waits for the current change. Default 20,000. */
  readonly endMs?: number;
}

/** A run whose answer may be shown while it is being written. */
export interface WatchedRun {
  readonly runId: RunId;
  /** The answered message. */
  readonly event: MessageEvent;
  /** Aborts when the run is stopped. After that, nothing more is shown. */
  readonly signal: AbortSignal;
  /** Returns the part of the answer that may be shown now. Empty if there is none. */
  readonly visible: () => string;
  /** Like `visible`, but for a text that remains as the final message, without attachments. */
  readonly standing: () => string;
}

/** A draft that is not changed any more. */
export interface ClosedDraft {
  /** Absent for a removed preview, because the reply is a new message. */
  readonly reference?: DraftReference;
  /** The shown text, in case no reply follows. */
  readonly text: string;
}

export interface DraftContext {
  readonly account: AccountLookup;
  /** Returns true if a row for the same destination is waiting to be sent. */
  readonly hasOpen: (destination: Destination) => Promise<boolean>;
  /** See `DraftsOptions.getLeaseMs`. */
  readonly getLeaseMs: GetLeaseMs | undefined;
  readonly buckets: TokenBuckets;
  readonly timing: Required<DraftTiming>;
  readonly clock: Clock;
  readonly logger: Pick<Logger, "debug" | "warn">;
}

/** Maximum number of consecutive failures. After that, a draft is not changed until it ends. */
const MAX_FAILURES = 3;
/** Time limit for an aborted change and for the removal of a preview, in milliseconds. */
const ABORT_MS = 1_000;
/** Share of a platform's rate limits that drafts may use, because replies have priority. */
const RATE_SHARE = 0.5;
/** Maximum rate of changes in one conversation, regardless of the platform's limits. */
const CONVERSATION_RATE = { perSecond: 10, burst: 1 };
const ENDED = new Error("The draft has ended.");
const PERMANENT: ReadonlySet<string> = new Set(["permission", "not_found", "unsupported", "invalid", "auth"]);

/** The parameters of a draft. */
export interface DraftPlace {
  readonly runId: string;
  /** Number of completed messages of the same run above the draft. */
  readonly index: number;
  /** The note of an earlier process. */
  readonly note?: DraftNote | undefined;
  /** Stores a note. Called before the draft is opened, and again with the id of its message. */
  readonly setNote: (note: DraftNote) => Promise<void>;
}

/**
 * A platform message that shows an answer while a run is writing it. Delivery does not depend on it: the outbox row is
 * the reply, and turns the draft into its first part if possible.
 */
export class GrowingDraft {
  readonly #context: DraftContext;
  readonly #runId: string;
  readonly #setNote: DraftPlace["setNote"];
  /** The same in every process that continues the run. */
  readonly #key: string;
  #run: WatchedRun | undefined;
  #draft: Pick<Draft, "messageId" | "update"> | Preview | undefined;
  /** Number of opened previews. Each one needs a different key. */
  #previews = 0;
  #messageId: string | undefined;
  #until: number;
  /** True if a message with an unknown id may exist. */
  #doubtful: boolean;
  #noted: boolean;
  #text = "";
  #timer: AbortController | undefined;
  #changing: Promise<void> | undefined;
  /** True if the run wrote text during the current change. */
  #more = false;
  #failures = 0;
  #isOver = false;
  /** Aborts when the draft has ended and the current change is no longer awaited. */
  #abort = new AbortController();

  constructor(context: DraftContext, { runId, index, note, setNote }: DraftPlace) {
    this.#context = context;
    this.#runId = runId;
    this.#setNote = setNote;
    this.#key = createDraftKey(runId, index);
    this.#until = note?.until ?? 0;
    this.#messageId = note?.messageId;
    this.#noted = note !== undefined;
    this.#doubtful = note !== undefined && note.messageId === undefined;
  }

  watch(run: WatchedRun): void {
    this.#run = run;
  }

  /** Called whenever the run has written text. */
  written(): void {
    const { afterMs, everyMs } = this.#context.timing;
    this.#more = true;
    this.#growIn(this.#text === "" ? afterMs : everyMs);
  }

  /** True if people may have seen part of the answer. */
  get isShown(): boolean {
    return this.#noted || this.#changing !== undefined || this.#draft !== undefined;
  }

  /** Resumes after `end`, because the run is retried. */
  async reopen(): Promise<void> {
    await this.#changing;
    this.#isOver = false;
    if (!this.#abort.signal.aborted) return;
    this.#abort = new AbortController();
    this.#draft = undefined;
  }

  /** Stops all changes of the message. Resolves with `undefined` if there is no message. */
  async end(): Promise<ClosedDraft | undefined> {
    this.#isOver = true;
    this.#timer?.abort(ENDED);
    this.#timer = undefined;
    if (this.#changing !== undefined) await this.#waitForChange(this.#context.timing.endMs);
    const isPreview = this.#draft instanceof Preview;
    if (this.#draft instanceof Preview) await this.#removePreview(this.#draft);
    // Abort a late change, because it would overwrite the reply. This also closes an open stream of the draft.
    this.#abort.abort(ENDED);
    if (this.#changing !== undefined) await this.#waitForChange(ABORT_MS);
    const text = this.#run?.standing() ?? "";
    if (isPreview) return { text };
    if (this.#messageId === undefined && !this.#doubtful) return undefined;
    return { reference: { key: this.#key, until: this.#until, messageId: this.#messageId }, text };
  }

  /** A preview that cannot be removed in time expires on the platform. */
  async #removePreview(preview: Preview): Promise<void> {
    const { clock, logger } = this.#context;
    const limit = new AbortController();
    const removed = preview.abort().catch((error: unknown) => {
      logger.debug({ run: this.#runId, err: reasonOf(error) }, "a preview could not be removed");
    });
    await Promise.race([removed, clock.delay(ABORT_MS, limit.signal).catch(() => {})]);
    limit.abort();
  }

  #growIn(ms: number): void {
    if (this.#isOver || this.#timer !== undefined || this.#changing !== undefined) return;
    const timer = new AbortController();
    this.#timer = timer;
    const clear = (): void => {
      if (this.#timer === timer) this.#timer = undefined;
    };
    // The timer of a stopped run must not keep the process alive.
    const run = this.#run;
    const until = run === undefined ? timer.signal : AbortSignal.any([timer.signal, run.signal]);
    this.#context.clock.delay(ms, until).then(() => {
      clear();
      this.#grow();
    }, clear);
  }

  #grow(): void {
    const run = this.#run;
    if (run === undefined || this.#isOver || run.signal.aborted) return;
    const account = this.#context.account(run.event.channel, run.event.account);
    const text = run.visible();
    if (account === undefined || text === "" || text === this.#text) return;
    const conversation = { key: getDestinationKey(run.event), rule: CONVERSATION_RATE };
    const rates = [conversation, ...getReducedRates(account, run.event, RATE_SHARE)];
    const wait = this.#context.buckets.take(rates);
    if (wait > 0) {
      this.#growIn(wait);
      return;
    }
    this.#more = false;
    this.#changing = this.#change(run, account, text).finally(() => {
      this.#changing = undefined;
      if (this.#more) this.#growIn(this.#context.timing.everyMs);
    });
  }

  async #change(run: WatchedRun, account: DeliveryAccount, text: string): Promise<void> {
    const { signal } = this.#abort;
    try {
      if (!this.#noted && this.#draft === undefined) {
        // A waiting row was committed before this answer, so it must appear first.
        if (await this.#context.hasOpen(run.event)) {
          this.#more = true;
          return;
        }
        await this.#noteBeforeOpening(account);
        if (this.#isOver) return;
      }
      if (this.#waitsForLease()) return;
      this.#draft ??= await this.#open(run, account, signal);
      if (signal.aborted || this.#waitsForLease()) return;
      await this.#draft?.update(text);
      this.#text = text;
      this.#failures = 0;
      if (this.#messageId !== undefined || this.#draft?.messageId === undefined) return;
      this.#messageId = this.#draft.messageId;
      this.#doubtful = false;
      await this.#writeNote();
    } catch (error) {
      this.#handleFailure(run, error);
    }
  }

  /**
   * Returns true if the message must not be changed now, because another process may have taken the run over and shown
   * its reply in the message. The change is tried again later.
   */
  #waitsForLease(): boolean {
    const isHeld = isLeaseHeld(this.#context.getLeaseMs);
    if (!isHeld) this.#more = true;
    return !isHeld;
  }

  /** Stores the note before the draft exists, because a crash in between must not leave an unknown draft. */
  async #noteBeforeOpening({ definition }: DeliveryAccount): Promise<void> {
    // A preview needs no note: a process that resumes the run opens another one.
    if (definition.capabilities.preview !== undefined) return;
    const { draftKey, idempotencyKey } = definition.capabilities.delivery;
    this.#until = this.#context.clock.now() + ((draftKey ?? idempotencyKey)?.windowMs ?? 0);
    await this.#writeNote();
    this.#noted = true;
  }

  #writeNote(): Promise<void> {
    return this.#setNote({ until: this.#until, messageId: this.#messageId });
  }

  async #open({ event }: WatchedRun, { definition, running }: DeliveryAccount, signal: AbortSignal) {
    const { threads, preview } = definition.capabilities;
    const quotes = threads !== "none" && event.messageId !== "";
    const open = async (idempotencyKey: string) =>
      running.openDraft?.(definition.codec.decode(event.address), {
        idempotencyKey,
        signal,
        replyTo: quotes ? event.messageId : undefined,
        messageId: this.#messageId,
      });
    if (preview === undefined) return open(this.#key);
    const { clock, logger } = this.#context;
    return new Preview({
      open: () => {
        // With the same key, the platform would return the expired preview.
        this.#previews += 1;
        return open(`${this.#key}-${this.#previews}`);
      },
      lifetime: preview,
      clock,
      signal,
      onLost: (error) => logger.warn({ run: this.#runId, err: reasonOf(error) }, "a preview was lost"),
    });
  }

  #handleFailure({ event }: WatchedRun, error: unknown): void {
    const { clock, logger, buckets } = this.#context;
    logger.warn({ run: this.#runId, err: reasonOf(error) }, "a draft could not be shown");
    const code = isChannelError(error) ? error.code : "unknown_outcome";
    if (code === "unknown_outcome" && this.#messageId === undefined && this.#noted) {
      // After the key has expired, a second attempt would create a second message.
      if (clock.now() >= this.#until) this.#isOver = true;
      else this.#doubtful = true;
    }
    // A request that the gateway refused for this reason is not a failure of the platform.
    if (this.#waitsForLease()) return;
    this.#more = true;
    if (code === "rate_limited" && isChannelError(error)) {
      buckets.pause(getDestinationKey(event), error.retryAfterMs ?? 1_000);
      return;
    }
    this.#failures++;
    if (PERMANENT.has(code) || this.#failures >= MAX_FAILURES) this.#isOver = true;
  }

  async #waitForChange(ms: number): Promise<void> {
    if (this.#changing === undefined) return;
    const limit = new AbortController();
    await Promise.race([this.#changing, this.#context.clock.delay(ms, limit.signal).catch(() => {})]);
    limit.abort();
  }
}

/** The idempotency key of a run's draft, with 90 bits of its hash. */
function createDraftKey(runId: string, index: number): string {
  return `d-${hash("sha256", `draft ${runId} ${index}`, "base64url").slice(0, 15)}`;
}
