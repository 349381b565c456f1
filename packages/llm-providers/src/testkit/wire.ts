import type { FetchLike } from "../provider/provider.ts";

/** A server's answer, byte for byte. */
export interface WireAnswer {
  /** Default 200. */
  readonly status?: number;
  /** Default `content-type: text/event-stream`. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly pieces: readonly Uint8Array[];
  /** What follows the last piece: the end (default), a broken connection, or nothing at all. */
  readonly ending?: "end" | "break" | "stall";
}

export interface WireRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A `fetch` that returns one answer, and what happened to it. */
export interface Wire {
  readonly fetch: FetchLike;
  readonly requests: readonly WireRequest[];
  /** Whether the client gave the connection up. */
  readonly closed: boolean;
}

async function bodyText(input: string | URL | Request, init: RequestInit | undefined): Promise<string> {
  if (input instanceof Request) return input.text();
  const body = init?.body;
  if (body === undefined || body === null) return "";
  return typeof body === "string" ? body : new Response(body).text();
}

/** A connection for a provider's SDK that never leaves the process. */
export function wire(answer: WireAnswer): Wire {
  const requests: WireRequest[] = [];
  const state = { closed: false };
  const give: FetchLike = async (input, init) => {
    const signal = init?.signal ?? (input instanceof Request ? input.signal : undefined);
    if (signal?.aborted === true) throw signal.reason;
    const request = input instanceof Request ? input : undefined;
    requests.push({
      url: request?.url ?? String(input),
      headers: Object.fromEntries(new Headers(request?.headers ?? init?.headers)),
      body: await bodyText(input, init),
    });
    let at = 0;
    let broken: ReadableStreamDefaultController<Uint8Array> | undefined;
    const onAbort = (): void => {
      state.closed = true;
      broken?.error(signal?.reason);
    };
    const over = (): void => signal?.removeEventListener("abort", onAbort);
    signal?.addEventListener("abort", onAbort, { once: true });
    const body = new ReadableStream<Uint8Array>(
      {
        start(controller) {
          broken = controller;
        },
        pull(controller) {
          const piece = answer.pieces[at++];
          if (piece !== undefined) {
            controller.enqueue(piece);
            return undefined;
          }
          if (answer.ending === "stall") return new Promise(() => {});
          over();
          if (answer.ending === "break") {
            const cause = Object.assign(new Error("other side closed"), { code: "ECONNRESET" });
            controller.error(new TypeError("terminated", { cause }));
          } else {
            controller.close();
          }
          return undefined;
        },
        cancel() {
          over();
          state.closed = true;
        },
      },
      { highWaterMark: 0 },
    );
    return new Response(body, {
      status: answer.status ?? 200,
      headers: { "content-type": "text/event-stream", ...answer.headers },
    });
  };
  return {
    fetch: give,
    requests,
    get closed() {
      return state.closed;
    },
  };
}

/** Bytes cut after each of them. */
export function bytewise(bytes: Uint8Array): Uint8Array[] {
  return Array.from(bytes, (_, at) => bytes.subarray(at, at + 1));
}

/** Where each event of an event stream ends (after its blank line), in bytes. */
export function eventEnds(bytes: Uint8Array): number[] {
  const ends: number[] = [];
  const LF = 10;
  const CR = 13;
  for (let at = 1; at < bytes.length; at++) {
    if (bytes[at] !== LF) continue;
    const before = bytes[at - 1] === CR ? at - 2 : at - 1;
    if (bytes[before] === LF) ends.push(at + 1);
  }
  return ends;
}

const isWord = (byte: number | undefined): boolean =>
  byte !== undefined && /\w/.test(String.fromCharCode(byte));

/**
 * Where a stream can be cut, once for each way it can come out: no reader looks into a word, so that of the cuts within
 * one a single one is enough.
 */
export function cutPlaces(bytes: Uint8Array): number[] {
  const places: number[] = [];
  for (let at = 0; at < bytes.length; at++) {
    const isWithin = isWord(bytes[at - 1]) && isWord(bytes[at]);
    if (!isWithin || !isWord(bytes[at - 2])) places.push(at);
  }
  return places;
}
