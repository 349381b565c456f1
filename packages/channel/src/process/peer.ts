import type { Duplex } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { parsePayload } from "../inbound/payload.ts";
import { errorOf, failureOf } from "./failure.ts";
import { type Frame, frame } from "./frames.ts";
import type { Method } from "./methods.ts";

/** The longest line that is read, in characters: a message with everything in it is far shorter. */
const MAX_LINE = 32_000_000;

/** The other end went away before it answered. */
export class PeerGone extends Error {
  override readonly name = "PeerGone";
}

/** A method that this end has: reads what it is called with, and gives what goes back. */
export interface Answer {
  readonly name: string;
  readonly answer: (params: unknown, signal: AbortSignal) => Promise<unknown>;
}

export function answering<Params, Result>(
  { name, params: schema }: Method<Params, Result>,
  answer: (params: Params, signal: AbortSignal) => Promise<Result> | Result,
): Answer {
  return { name, answer: async (params, signal) => answer(schema.parse(params), signal) };
}

interface Pending {
  readonly settle: (value: unknown) => void;
  readonly fail: (error: Error) => void;
}

/** One end of the line between a host and the process of an account. */
export class Peer {
  readonly #stream: Duplex;
  readonly #answers: ReadonlyMap<string, Answer>;
  readonly #onGone: (reason: string | undefined) => void;
  /** Calls to the other end that it has not answered. */
  readonly #pending = new Map<number, Pending>();
  /** Calls of the other end that are carried out here. */
  readonly #answered = new Map<number, AbortController>();
  #calls = 0;
  #gone: string | undefined;

  /** @param onGone called once, when the line is cut, with the reason where that was done at this end */
  constructor(stream: Duplex, answers: readonly Answer[], onGone: (reason: string | undefined) => void) {
    this.#stream = stream;
    this.#answers = new Map(answers.map((each) => [each.name, each]));
    this.#onGone = onGone;
    this.#listen();
  }

  /** Whether the line is cut. */
  get isGone(): boolean {
    return this.#gone !== undefined;
  }

  /** @throws PeerGone, and what the other end failed with */
  call<Params, Result>(
    { name: method, result }: Method<Params, Result>,
    params: Params,
    signal?: AbortSignal,
  ): Promise<Result> {
    const id = this.#calls++;
    const abort = (): void => this.#write({ type: "abort", id });
    return new Promise<Result>((resolve, reject) => {
      if (this.#gone !== undefined) return reject(new PeerGone(this.#gone));
      // What cannot be written is no call that waits for an answer.
      const written = JSON.parse(JSON.stringify(params));
      this.#pending.set(id, {
        settle: (value) => {
          const read = result.safeParse(value);
          if (read.success) return resolve(read.data);
          this.close(`what ${method} answered cannot be read`);
          reject(new PeerGone(`what ${method} answered cannot be read`));
        },
        fail: reject,
      });
      this.#write({
        type: "call",
        id,
        method,
        params: written,
        ...(signal?.aborted === true ? { aborted: true } : {}),
      });
      signal?.addEventListener("abort", abort, { once: true });
    }).finally(() => signal?.removeEventListener("abort", abort));
  }

  /** Cuts the line. */
  close(reason: string): void {
    this.#end(reason);
    this.#stream.destroy();
  }

  #listen(): void {
    const decoder = new StringDecoder("utf8");
    /** What has come of a line that is not whole. */
    let pieces: string[] = [];
    let size = 0;
    this.#stream.on("data", (chunk: Buffer) => {
      const [first = "", ...more] = decoder.write(chunk).split("\n");
      pieces.push(first);
      size += first.length;
      for (const next of more) {
        this.#read(pieces.join(""));
        pieces = [next];
        size = next.length;
      }
      if (size > MAX_LINE) this.close("it sent more in one frame than is read");
    });
    this.#stream.on("error", () => {});
    this.#stream.on("close", () => this.#end(undefined));
  }

  #read(line: string): void {
    const read = frame.safeParse(parsePayload(line));
    if (!read.success) {
      this.close("it sent what is no frame");
      return;
    }
    const said = read.data;
    switch (said.type) {
      case "call":
        void this.#answer(said);
        return;
      case "abort":
        this.#answered.get(said.id)?.abort();
        return;
      case "result":
        this.#take(said.id)?.settle(said.value);
        return;
      case "error":
        this.#take(said.id)?.fail(errorOf(said.error));
        return;
    }
  }

  async #answer({ id, method, params, aborted }: Extract<Frame, { type: "call" }>): Promise<void> {
    const aborting = new AbortController();
    if (aborted) aborting.abort();
    this.#answered.set(id, aborting);
    try {
      const answer = this.#answers.get(method);
      if (answer === undefined) throw new Error(`there is no method ${method}`);
      const value = await answer.answer(params, aborting.signal);
      this.#write({
        type: "result",
        id,
        ...(value === undefined ? {} : { value: JSON.parse(JSON.stringify(value)) }),
      });
    } catch (error) {
      this.#write({ type: "error", id, error: failureOf(error) });
    } finally {
      this.#answered.delete(id);
    }
  }

  #take(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    return pending;
  }

  #write(each: Frame): void {
    if (this.#gone === undefined) this.#stream.write(`${JSON.stringify(each)}\n`);
  }

  #end(reason: string | undefined): void {
    if (this.#gone !== undefined) return;
    this.#gone = reason ?? "the line was cut";
    for (const id of [...this.#pending.keys()]) this.#take(id)?.fail(new PeerGone(this.#gone));
    for (const aborting of this.#answered.values()) aborting.abort();
    this.#onGone(reason);
  }
}
