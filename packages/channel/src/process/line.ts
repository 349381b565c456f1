import type { Duplex } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { parsePayload } from "../inbound/payload.ts";
import { errorOf, failureOf } from "./failure.ts";
import type { Method } from "./methods.ts";
import { type Packet, packet } from "./packets.ts";

/** The longest packet that is read, in characters: a message with everything in it is far shorter. */
const MAX_PACKET = 32_000_000;

/** The other end went away before it answered. */
export class LineCut extends Error {
  override readonly name = "LineCut";
}

/** A method that this end has: reads what it is called with, and gives what goes back. */
export interface Handler {
  readonly name: string;
  readonly handle: (params: unknown, signal: AbortSignal) => Promise<unknown>;
}

export function handling<Params, Result>(
  { name, params: schema }: Method<Params, Result>,
  handle: (params: Params, signal: AbortSignal) => Promise<Result> | Result,
): Handler {
  return { name, handle: async (params, signal) => handle(schema.parse(params), signal) };
}

interface Pending {
  readonly settle: (value: unknown) => void;
  readonly fail: (error: Error) => void;
}

/** One end of the line between a host and the process of an account. */
export class Line {
  readonly #stream: Duplex;
  readonly #handlers: ReadonlyMap<string, Handler>;
  readonly #onGone: (reason: string | undefined) => void;
  /** Calls to the other end that it has not answered. */
  readonly #pending = new Map<number, Pending>();
  /** Calls of the other end that are carried out here. */
  readonly #running = new Map<number, AbortController>();
  #calls = 0;
  #gone: string | undefined;

  /** @param onGone called once, when the line is cut, with the reason where that was done at this end */
  constructor(stream: Duplex, handlers: readonly Handler[], onGone: (reason: string | undefined) => void) {
    this.#stream = stream;
    this.#handlers = new Map(handlers.map((each) => [each.name, each]));
    this.#onGone = onGone;
    this.#listen();
  }

  /** Whether the line is cut. */
  get isGone(): boolean {
    return this.#gone !== undefined;
  }

  /** @throws LineCut, and what the other end failed with */
  call<Params, Result>(
    { name: method, result }: Method<Params, Result>,
    params: Params,
    signal?: AbortSignal,
  ): Promise<Result> {
    const id = this.#calls++;
    const abort = (): void => this.#write({ type: "abort", id });
    return new Promise<Result>((resolve, reject) => {
      if (this.#gone !== undefined) return reject(new LineCut(this.#gone));
      // What cannot be written is no call that waits for an answer.
      const written = JSON.parse(JSON.stringify(params));
      this.#pending.set(id, {
        settle: (value) => {
          const read = result.safeParse(value);
          if (read.success) return resolve(read.data);
          this.close(`what ${method} answered cannot be read`);
          reject(new LineCut(`what ${method} answered cannot be read`));
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
    /** What has come of a packet that is not whole. */
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
      if (size > MAX_PACKET) this.close("it sent more in one packet than is read");
    });
    this.#stream.on("error", () => {});
    this.#stream.on("close", () => this.#end(undefined));
  }

  #read(text: string): void {
    const read = packet.safeParse(parsePayload(text));
    if (!read.success) {
      this.close("it sent what is no packet");
      return;
    }
    const said = read.data;
    switch (said.type) {
      case "call":
        void this.#carryOut(said);
        return;
      case "abort":
        this.#running.get(said.id)?.abort();
        return;
      case "result":
        this.#take(said.id)?.settle(said.value);
        return;
      case "error":
        this.#take(said.id)?.fail(errorOf(said.error));
        return;
    }
  }

  async #carryOut({ id, method, params, aborted }: Extract<Packet, { type: "call" }>): Promise<void> {
    const aborting = new AbortController();
    if (aborted) aborting.abort();
    this.#running.set(id, aborting);
    try {
      const handler = this.#handlers.get(method);
      if (handler === undefined) throw new Error(`there is no method ${method}`);
      const value = await handler.handle(params, aborting.signal);
      this.#write({
        type: "result",
        id,
        ...(value === undefined ? {} : { value: JSON.parse(JSON.stringify(value)) }),
      });
    } catch (error) {
      this.#write({ type: "error", id, error: failureOf(error) });
    } finally {
      this.#running.delete(id);
    }
  }

  #take(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    return pending;
  }

  #write(each: Packet): void {
    if (this.#gone === undefined) this.#stream.write(`${JSON.stringify(each)}\n`);
  }

  #end(reason: string | undefined): void {
    if (this.#gone !== undefined) return;
    this.#gone = reason ?? "the line was cut";
    for (const id of [...this.#pending.keys()]) this.#take(id)?.fail(new LineCut(this.#gone));
    for (const aborting of this.#running.values()) aborting.abort();
    this.#onGone(reason);
  }
}
