import type {
  AssistantMessage,
  Block,
  BlockHead,
  Model,
  ModelEvent,
  ModelIterator,
  ModelStream,
  Native,
  StopReason,
  StreamOptions,
  Usage,
  Warning,
} from "@signalbox/agent-core";
import type { Timeouts } from "../provider.ts";
import { classifyException, type Failure, failure } from "./errors.ts";
import { type OpenBlock, seal } from "./seal.ts";

/**
 * However hard a model thinks: those that think for long say on the wire that they are at work, with pings, events or
 * comments at least every thirty seconds, or with what they think.
 */
const SILENCE_MS = 55_000;

/** What an adapter tells about the turn it is reading. Everything after the terminal event is ignored. */
export interface TurnWriter {
  /** Ends when the caller aborts, stops listening, or the vendor is silent for too long. */
  readonly signal: AbortSignal;
  /** Whether a terminal event was written. */
  readonly ended: boolean;
  /** Something the caller should know; before `start`. */
  warn(code: string, message: string): void;
  /** The vendor accepted the request. Only the first call counts. */
  start(requestId?: string | null): void;
  /** The vendor's id of the response. */
  responseId(id: string): void;
  /** Starts a block and gives its index. Several may be open at once. */
  open(head: BlockHead): number;
  /** Text of a text, refusal or citation block. */
  text(index: number, delta: string): void;
  thinking(index: number, delta: string): void;
  /** Raw JSON text of a tool call's arguments. */
  args(index: number, delta: string): void;
  /** Seals a block. A block that is not open is left alone. */
  close(index: number, native?: Native): void;
  /** A block that arrives whole. */
  block(block: Block): void;
  /** The usage so far; the last one ends up in the message. */
  usage(usage: Usage): void;
  /** Ends the turn; open blocks are sealed first. Only the first terminal call counts. */
  finish(stopReason: StopReason, raw?: string): void;
  /** Ends the turn with a failure; open blocks are sealed first. */
  fail(failure: Failure, stopReason?: StopReason): void;
}

/** The wire behind a turn. */
export interface TurnSource {
  /** Reads the next piece and writes what it says; `false` when the wire has ended. */
  pull(): boolean | Promise<boolean>;
  /**
   * Gives the socket up; may be called at any time, more than once. After a `finished` turn the rest of the body may
   * be read so that the connection can be kept.
   */
  close(finished: boolean): void;
}

/** Makes the request. It may reject: the turn then ends with that failure. */
export type OpenTurn = (turn: TurnWriter) => Promise<TurnSource>;

export interface TurnSetup {
  readonly model: Model;
  readonly options?: StreamOptions | undefined;
  readonly timeouts?: Timeouts | undefined;
  readonly now?: (() => number) | undefined;
  /** Tools' own names by those they have on the wire, of those that differ. */
  readonly names?: ReadonlyMap<string, string> | undefined;
}

/**
 * One reason for every abort: an error made at the abort would hold its stack, and so the whole turn, for as long as
 * an SDK holds the signal.
 */
const OVER = new DOMException("The turn is over.", "AbortError");

/** How long keep-alives alone are taken for a model at work, in milliseconds. */
const QUIET_MS = 10 * 60_000;

type Result = IteratorResult<ModelEvent, undefined>;

/**
 * One turn as the contract's event stream. Pulled: the source is read only while somebody waits for an event and
 * none is left, so at most one piece of the wire is held. An aborted or silent turn ends at once, whatever its
 * source is doing.
 */
class Turn implements ModelStream, ModelIterator, TurnWriter {
  readonly #setup: TurnSetup;
  readonly #openTurn: OpenTurn;
  readonly #controller = new AbortController();
  readonly #warnings: Warning[] = [];
  readonly #content: Block[] = [];
  readonly #open: (OpenBlock | undefined)[] = [];
  readonly #waiting: ((result: Result) => void)[] = [];
  #queue: ModelEvent[] = [];
  #head = 0;
  #source: TurnSource | undefined;
  #begun = false;
  #pulling = false;
  #started = false;
  #ended = false;
  #emitted = false;
  #usage: Usage | undefined;
  #responseId: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  #timerMs = 0;
  /** Since when, in milliseconds since the epoch, nothing but keep-alives has come. */
  #quietSince: number | undefined;

  constructor(setup: TurnSetup, openTurn: OpenTurn) {
    this.#setup = setup;
    this.#openTurn = openTurn;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get ended(): boolean {
    return this.#ended;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  // Whoever waits already is served first.
  nextReady(): ModelEvent | undefined {
    return this.#waiting.length === 0 ? this.#shift() : undefined;
  }

  next(): Promise<Result> {
    if (this.#waiting.length === 0) {
      const value = this.#shift();
      if (value !== undefined) return Promise.resolve({ done: false, value });
      if (this.#ended) return Promise.resolve({ done: true, value: undefined });
    }
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      if (!this.#pulling) this.#pump();
    });
  }

  return(): Promise<Result> {
    this.#ended = true;
    this.#queue = [];
    this.#head = 0;
    this.#release(false);
    this.#deliver();
    return Promise.resolve({ done: true, value: undefined });
  }

  #shift(): ModelEvent | undefined {
    if (this.#head === this.#queue.length) return undefined;
    const value = this.#queue[this.#head++];
    if (this.#head === this.#queue.length) {
      this.#queue = [];
      this.#head = 0;
    }
    return value;
  }

  /** Hands out what there is; says whether somebody still waits for more. */
  #deliver(): boolean {
    while (this.#waiting.length > 0) {
      const value = this.#shift();
      if (value === undefined && !this.#ended) return true;
      const resolve = this.#waiting.shift();
      resolve?.(value === undefined ? { done: true, value } : { done: false, value });
    }
    return false;
  }

  #pump(): void {
    if (!this.#begun) {
      this.#begun = true;
      this.#begin();
      return;
    }
    this.#pull();
  }

  #begin(): void {
    const signal = this.#setup.options?.signal;
    if (signal?.aborted === true) {
      this.#onAbort();
      return;
    }
    signal?.addEventListener("abort", this.#onAbort, { once: true });
    this.#pulling = true;
    this.#watch(this.#setup.timeouts?.firstByteMs ?? this.#patience());
    this.#openTurn(this).then(
      (source) => {
        this.#pulling = false;
        if (this.#ended) {
          source.close(false);
          return;
        }
        this.#source = source;
        if (this.#deliver()) this.#pull();
      },
      (error: unknown) => this.#broke(error),
    );
  }

  #pull(): void {
    const source = this.#source;
    while (source !== undefined && !this.#ended) {
      let more: boolean | Promise<boolean>;
      try {
        more = source.pull();
      } catch (error) {
        this.#broke(error);
        return;
      }
      if (typeof more === "boolean") {
        if (!more) this.#cut();
        if (!this.#deliver()) return;
        continue;
      }
      this.#pulling = true;
      this.#watch(this.#setup.timeouts?.idleMs ?? this.#patience());
      more.then(this.#onPulled, (error: unknown) => this.#broke(error));
      return;
    }
  }

  readonly #onPulled = (more: boolean): void => {
    this.#pulling = false;
    if (this.#ended) return;
    if (this.#head < this.#queue.length) this.#quietSince = undefined;
    else if (more) this.#stayedQuiet();
    if (!more) this.#cut();
    if (this.#deliver()) this.#pull();
  };

  /** A piece came that says nothing: a server that lives and never answers holds its run no longer than so. */
  #stayedQuiet(): void {
    const now = this.#setup.now?.() ?? Date.now();
    this.#quietSince ??= now;
    if (now - this.#quietSince < QUIET_MS) return;
    this.fail(
      failure("timeout", `The model kept the connection open for ${QUIET_MS / 60_000} min and said nothing.`),
    );
  }

  #broke(error: unknown): void {
    this.#pulling = false;
    this.fail(classifyException(error));
  }

  #cut(): void {
    if (!this.#ended) this.fail(failure("network", "The connection ended before the answer was complete."));
  }

  readonly #onAbort = (): void => {
    this.fail(failure("aborted", "The request was aborted."), "aborted");
  };

  #patience(): number {
    return this.#setup.options?.silenceMs ?? SILENCE_MS;
  }

  /** One timer a turn, moved on at each wait; silence counts only while the wire is being waited for. */
  #watch(ms: number): void {
    if (this.#timer !== undefined && this.#timerMs === ms) {
      this.#timer.refresh();
      return;
    }
    clearTimeout(this.#timer);
    this.#timerMs = ms;
    this.#timer = setTimeout(() => {
      if (!this.#pulling || this.#ended) return;
      this.fail(failure("timeout", `The model sent nothing for ${ms / 1000} s.`));
    }, ms);
  }

  #release(finished: boolean): void {
    clearTimeout(this.#timer);
    this.#setup.options?.signal?.removeEventListener("abort", this.#onAbort);
    if (!finished) this.#controller.abort(OVER);
    this.#source?.close(finished);
    this.#source = undefined;
  }

  warn(code: string, message: string): void {
    this.#warnings.push({ code, message });
  }

  start(requestId?: string | null): void {
    if (this.#started || this.#ended) return;
    this.#started = true;
    const { api, provider, id } = this.#setup.model;
    const request = { api, provider, model: id };
    this.#queue.push({
      type: "start",
      request: requestId === undefined || requestId === null ? request : { ...request, requestId },
      warnings: this.#warnings,
    });
  }

  responseId(id: string): void {
    this.#responseId = id;
  }

  open(head: BlockHead): number {
    const index = this.#open.length;
    if (this.#ended) return index;
    this.start();
    const named = head.type === "toolCall" ? this.#named(head) : head;
    this.#open.push({ head: named, text: "" });
    this.#queue.push({ type: "block.start", index, block: named });
    return index;
  }

  /** A call under its tool's own name. */
  #named<H extends { readonly name: string }>(head: H): H {
    const name = this.#setup.names?.get(head.name);
    return name === undefined ? head : { ...head, name };
  }

  // What an adapter took for text off the wire may be none.
  text(index: number, delta: string): void {
    const block = this.#open[index];
    if (block === undefined || this.#ended || delta === "" || typeof delta !== "string") return;
    block.text += delta;
    this.#emitted = true;
    this.#queue.push({ type: "text.delta", index, delta });
  }

  thinking(index: number, delta: string): void {
    const block = this.#open[index];
    if (block === undefined || this.#ended || delta === "" || typeof delta !== "string") return;
    block.text += delta;
    this.#emitted = true;
    this.#queue.push({ type: "thinking.delta", index, delta });
  }

  args(index: number, delta: string): void {
    const block = this.#open[index];
    if (block === undefined || this.#ended || delta === "" || typeof delta !== "string") return;
    block.text += delta;
    this.#queue.push({ type: "tool.delta", index, delta });
  }

  close(index: number, native?: Native): void {
    this.#seal(index, native, true);
  }

  #seal(index: number, native: Native | undefined, complete: boolean): void {
    const open = this.#open[index];
    if (open === undefined || this.#ended) return;
    this.#open[index] = undefined;
    const block = seal(open, native, complete);
    this.#content[index] = block;
    this.#queue.push({ type: "block.end", index, block });
  }

  block(given: Block): void {
    if (this.#ended) return;
    this.start();
    const block = given.type === "toolCall" ? this.#named(given) : given;
    const index = this.#open.length;
    this.#open.push(undefined);
    this.#content[index] = block;
    const head: BlockHead =
      block.type === "toolCall" ? { type: "toolCall", id: block.id, name: block.name } : { type: block.type };
    this.#queue.push({ type: "block.start", index, block: head }, { type: "block.end", index, block });
  }

  usage(usage: Usage): void {
    if (this.#ended) return;
    this.#usage = usage;
    this.#queue.push({ type: "usage", usage });
  }

  #sealAll(complete: boolean): void {
    for (let index = 0; index < this.#open.length; index++) this.#seal(index, undefined, complete);
  }

  #message(stopReason: StopReason): AssistantMessage {
    const { model, now } = this.#setup;
    return {
      role: "assistant",
      content: this.#content,
      api: model.api,
      provider: model.provider,
      model: model.id,
      stopReason,
      ...(this.#usage === undefined ? {} : { usage: this.#usage }),
      ...(this.#responseId === undefined ? {} : { responseId: this.#responseId }),
      timestamp: (now ?? Date.now)(),
    };
  }

  finish(stopReason: StopReason, raw?: string): void {
    if (this.#ended) return;
    this.start();
    this.#sealAll(stopReason !== "max_tokens");
    // A server may say that it waits for tools without having called any: nothing would ever answer it.
    const idle = stopReason === "tool_use" && !this.#content.some((block) => block.type === "toolCall");
    const message = this.#message(idle ? "end_turn" : stopReason);
    this.#queue.push({
      type: "finish",
      message: raw === undefined ? message : { ...message, rawStopReason: raw },
    });
    this.#ended = true;
    this.#release(true);
    this.#deliver();
  }

  fail(cause: Failure, stopReason?: StopReason): void {
    if (this.#ended) return;
    this.start();
    this.#sealAll(false);
    const error = { ...cause, emitted: this.#emitted };
    const stop =
      stopReason ??
      (cause.code === "overflow" ? "context_overflow" : cause.code === "aborted" ? "aborted" : "error");
    this.#queue.push({ type: "error", error, partial: { ...this.#message(stop), error } });
    this.#ended = true;
    this.#release(false);
    this.#deliver();
  }
}

/** Whether a stream is `modelTurn`'s, which never throws and ends with one terminal event. */
export function isTurn(stream: object): stream is ModelIterator {
  return stream instanceof Turn;
}

/** A turn that asks nothing of anybody until its first event is asked for. */
export function modelTurn(setup: TurnSetup, open: OpenTurn): ModelStream & ModelIterator {
  return new Turn(setup, open);
}
