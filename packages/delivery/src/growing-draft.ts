import { hash } from "node:crypto";
import {
  type Clock,
  type Draft,
  isChannelError,
  type MessageEvent,
  reasonOf,
  type TokenBuckets,
} from "@signalbox/channel";
import type { AccountLookup, DeliveryAccount } from "./account.ts";
import type { DraftNote, DraftNotes } from "./draft-notes.ts";
import type { DeliveryLogger } from "./logger.ts";
import type { Destination, DraftReference, Millis } from "./outbox.ts";
import { Preview } from "./preview.ts";
import { sharedRates } from "./rates.ts";
import { destinationKey } from "./rows.ts";

/** In milliseconds. */
export interface DraftTiming {
  /** From the first words of a run to its draft: an answer that is done by then has none. Default 1,000. */
  readonly afterMs?: number;
  /** Between two changes of a draft. Default 700. */
  readonly everyMs?: number;
  /** How long the end waits for a change that is under way before it gives that up. Default 20,000. */
  readonly endMs?: number;
}

/** A run whose answer may be shown while it is written. */
export interface WatchedRun<RunId extends string = string> {
  readonly runId: RunId;
  /** The message being answered. */
  readonly event: MessageEvent;
  /** Fires when the run is to stop; from then on nothing more is shown. */
  readonly signal: AbortSignal;
  /** What of the answer may be seen now; empty for nothing. */
  readonly visible: () => string;
  /** The same where it is all that people get: nothing is sent along that it need not name. */
  readonly standing: () => string;
}

/** A run's draft when the run is over. */
export interface EndedDraft {
  /** Absent where it was a preview, which is gone: the reply is a message of its own. */
  readonly reference?: DraftReference;
  /** What there was to see of the answer, for where nothing follows. */
  readonly text: string;
}

export interface DraftPorts {
  readonly account: AccountLookup;
  readonly notes: DraftNotes;
  /** Whether something waits for its way out to the same destination. */
  readonly hasOpen: (destination: Destination) => Promise<boolean>;
  readonly buckets: TokenBuckets;
  readonly timing: Required<DraftTiming>;
  readonly clock: Clock;
  readonly logger: DeliveryLogger;
}

/** Changes that fail in a row before a draft is left alone until its end. */
const MOST_FAILURES = 3;
/** How long a change that was given up may take to say how far it came. */
const GIVEN_UP_MS = 1_000;
/** How much of a platform's rate drafts may use: replies come first. */
const SHARE = 0.5;
/** Drafts of one conversation never change more often than that. */
const CONVERSATION_RATE = { perSecond: 10, burst: 1 };
/** Made once: a run ends its draft whether or not one was shown. */
const OVER = new Error("the draft is over");
const LASTING: ReadonlySet<string> = new Set(["permission", "not_found", "unsupported", "invalid", "auth"]);

/**
 * The message at a platform that grows while a run writes. What it shows is never needed for correctness: the outbox
 * row is the reply, and finishes the draft where it can.
 */
export class GrowingDraft {
  readonly #ports: DraftPorts;
  readonly #runId: string;
  /** The same for every process that continues the run. */
  readonly #key: string;
  #run: WatchedRun | undefined;
  #draft: Pick<Draft, "messageId" | "update"> | Preview | undefined;
  /** How many previews it has had. */
  #previews = 0;
  #messageId: string | undefined;
  #until: Millis;
  /** Whether there may be a message whose id is not known. */
  #doubtful: boolean;
  #noted: boolean;
  #text = "";
  #timer: AbortController | undefined;
  #changing: Promise<void> | undefined;
  /** Something was written while a change was under way. */
  #more = false;
  #failures = 0;
  #over = false;
  /** Fires when the growing is over, and the change that is under way is not waited for any more. */
  #givenUp = new AbortController();

  /** @param note what an earlier process noted about it */
  constructor(ports: DraftPorts, runId: string, note?: DraftNote) {
    this.#ports = ports;
    this.#runId = runId;
    this.#key = draftKey(runId);
    this.#until = note?.until ?? 0;
    this.#messageId = note?.messageId;
    this.#noted = note !== undefined;
    this.#doubtful = note !== undefined && note.messageId === undefined;
  }

  watch(run: WatchedRun): void {
    this.#run = run;
  }

  /** The run has written something. */
  written(): void {
    const { afterMs, everyMs } = this.#ports.timing;
    this.#more = true;
    this.#growIn(this.#text === "" ? afterMs : everyMs);
  }

  /** Whether people may have seen something of it. */
  get isShown(): boolean {
    return this.#noted || this.#changing !== undefined || this.#draft !== undefined;
  }

  /** Whether there is a note of it to be removed. */
  get isNoted(): boolean {
    return this.#noted;
  }

  /** The run it belonged to is tried again. */
  async reopen(): Promise<void> {
    await this.#changing;
    this.#over = false;
    if (!this.#givenUp.signal.aborted) return;
    this.#givenUp = new AbortController();
    this.#draft = undefined;
  }

  /** Ends the growing: nothing touches the message any more. Undefined where there is none. */
  async end(): Promise<EndedDraft | undefined> {
    this.#over = true;
    this.#timer?.abort(OVER);
    this.#timer = undefined;
    if (this.#changing !== undefined) await this.#changedOrLate(this.#ports.timing.endMs);
    const isPreview = this.#draft instanceof Preview;
    if (this.#draft instanceof Preview) await this.#takeAway(this.#draft);
    // A change that came after the reply would hide the reply's end; and what keeps a stream open ends with the draft.
    this.#givenUp.abort(OVER);
    if (this.#changing !== undefined) await this.#changedOrLate(GIVEN_UP_MS);
    const text = this.#run?.standing() ?? "";
    if (isPreview) return { text };
    if (this.#messageId === undefined && !this.#doubtful) return undefined;
    return { reference: { key: this.#key, until: this.#until, ...this.#id() }, text };
  }

  /** One that does not go at once goes by itself. */
  async #takeAway(preview: Preview): Promise<void> {
    const { clock, logger } = this.#ports;
    const limit = new AbortController();
    const gone = preview.abort().catch((error: unknown) => {
      logger.debug({ run: this.#runId, err: reasonOf(error) }, "a preview could not be removed");
    });
    await Promise.race([gone, clock.delay(GIVEN_UP_MS, limit.signal).catch(() => {})]);
    limit.abort();
  }

  #growIn(ms: number): void {
    if (this.#over || this.#timer !== undefined || this.#changing !== undefined) return;
    const timer = new AbortController();
    this.#timer = timer;
    const forget = (): void => {
      if (this.#timer === timer) this.#timer = undefined;
    };
    // A run that is to stop shows nothing more, and holds no process up.
    const run = this.#run;
    const until = run === undefined ? timer.signal : AbortSignal.any([timer.signal, run.signal]);
    this.#ports.clock.delay(ms, until).then(() => {
      forget();
      this.#grow();
    }, forget);
  }

  #grow(): void {
    const run = this.#run;
    if (run === undefined || this.#over || run.signal.aborted) return;
    const account = this.#ports.account(run.event.channel, run.event.account);
    const text = run.visible();
    if (account === undefined || text === "" || text === this.#text) return;
    const conversation = { key: destinationKey(run.event), rule: CONVERSATION_RATE };
    const wait = this.#ports.buckets.take([conversation, ...sharedRates(account, run.event, SHARE)]);
    if (wait > 0) {
      this.#growIn(wait);
      return;
    }
    this.#more = false;
    this.#changing = this.#change(run, account, text).finally(() => {
      this.#changing = undefined;
      if (this.#more) this.#growIn(this.#ports.timing.everyMs);
    });
  }

  async #change(run: WatchedRun, account: DeliveryAccount, text: string): Promise<void> {
    // What a platform may take for one change is the channel's to say.
    const { signal } = this.#givenUp;
    try {
      if (!this.#noted && this.#draft === undefined) {
        // What waits for its way out to the same place was said before.
        if (await this.#ports.hasOpen(run.event)) {
          this.#more = true;
          return;
        }
        await this.#noteFirst(account);
        if (this.#over) return;
      }
      this.#draft ??= await this.#open(run, account, signal);
      if (signal.aborted) return;
      await this.#draft?.update(text);
      this.#text = text;
      this.#failures = 0;
      if (this.#messageId !== undefined || this.#draft?.messageId === undefined) return;
      this.#messageId = this.#draft.messageId;
      this.#doubtful = false;
      await this.#note();
    } catch (error) {
      this.#failed(run, error);
    }
  }

  /** Known before it is there. */
  async #noteFirst({ definition }: DeliveryAccount): Promise<void> {
    // Nobody takes a preview up: whoever goes on with the run begins another.
    if (definition.capabilities.preview !== undefined) return;
    const windowMs = definition.capabilities.delivery.idempotencyKey?.windowMs ?? 0;
    this.#until = this.#ports.clock.now() + windowMs;
    await this.#note();
    this.#noted = true;
  }

  #note(): Promise<void> {
    return this.#ports.notes.set(this.#runId, { until: this.#until, ...this.#id() });
  }

  async #open({ event }: WatchedRun, { definition, running }: DeliveryAccount, signal: AbortSignal) {
    const { threads, preview } = definition.capabilities;
    const quotes = threads !== "none" && event.messageId !== "";
    const open = async (idempotencyKey: string) =>
      running.openDraft?.(definition.codec.decode(event.address), {
        idempotencyKey,
        signal,
        ...(quotes ? { replyTo: event.messageId } : {}),
        ...this.#id(),
      });
    if (preview === undefined) return open(this.#key);
    const { clock, logger } = this.#ports;
    return new Preview({
      open: () => {
        // Another one has another key, or would be the one that is gone.
        this.#previews += 1;
        return open(`${this.#key}-${this.#previews}`);
      },
      lifetime: preview,
      clock,
      signal,
      onLost: (error) => logger.warn({ run: this.#runId, err: reasonOf(error) }, "a preview was lost"),
    });
  }

  #failed({ event }: WatchedRun, error: unknown): void {
    const { clock, logger, buckets } = this.#ports;
    logger.warn({ run: this.#runId, err: reasonOf(error) }, "a draft could not be shown");
    const code = isChannelError(error) ? error.code : "unknown_outcome";
    if (code === "unknown_outcome" && this.#messageId === undefined && this.#noted) {
      // Where the platform would take a second try for another message, there is none.
      if (clock.now() >= this.#until) this.#over = true;
      else this.#doubtful = true;
    }
    this.#more = true;
    if (code === "rate_limited" && isChannelError(error)) {
      buckets.pause(destinationKey(event), error.retryAfterMs ?? 1_000);
      return;
    }
    this.#failures++;
    // The reply finishes the draft if it can, and is sent by itself where it cannot.
    if (LASTING.has(code) || this.#failures >= MOST_FAILURES) this.#over = true;
  }

  #id(): { readonly messageId?: string } {
    return this.#messageId === undefined ? {} : { messageId: this.#messageId };
  }

  async #changedOrLate(ms: number): Promise<void> {
    if (this.#changing === undefined) return;
    const limit = new AbortController();
    await Promise.race([this.#changing, this.#ports.clock.delay(ms, limit.signal).catch(() => {})]);
    limit.abort();
  }
}

/** 90 bits, under which the run's draft is opened at the platform. */
function draftKey(runId: string): string {
  return `d-${hash("sha256", `draft ${runId}`, "base64url").slice(0, 15)}`;
}
