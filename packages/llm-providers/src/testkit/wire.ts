import type { FetchLike } from "../provider/provider.ts";

/** A response from a server, byte for byte. */
export interface WireAnswer {
  /** Default 200. */
  readonly status?: number;
  /** Default `content-type: text/event-stream`. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly pieces: readonly Uint8Array[];
  /** What happens after the last chunk: the end (default), a broken connection, or silence. */
  readonly ending?: "end" | "break" | "stall";
}

/** A request that was sent over a {@link Wire}. */
interface SentRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A `fetch` with one response, and a record of its use. */
export interface Wire {
  readonly fetch: FetchLike;
  readonly requests: readonly SentRequest[];
  /** True if the client closed the connection early. */
  readonly closed: boolean;
}

/** Creates a `fetch` that never leaves the process. */
export function wire(answer: WireAnswer): Wire {
  const requests: SentRequest[] = [];
  const line = {
    requests,
    closed: false,
    fetch: async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
      const signal = init?.signal ?? (input instanceof Request ? input.signal : undefined);
      signal?.throwIfAborted();
      requests.push(await readRequest(input, init));
      const stream = bodyOf(answer, signal, () => (line.closed = true));
      return new Response(stream, {
        status: answer.status ?? 200,
        headers: { "content-type": "text/event-stream", ...answer.headers },
      });
    },
  };
  return line;
}

async function readRequest(...[input, init]: Parameters<FetchLike>): Promise<SentRequest> {
  // Not `new Request`, which rejects relative addresses.
  const request = typeof input === "string" || input instanceof URL ? undefined : input;
  const headers = new Headers(init?.headers ?? request?.headers);
  const body = await new Response(init?.body ?? request?.body).text();
  return { url: request?.url ?? String(input), headers: Object.fromEntries(headers), body };
}

const OTHER_SIDE_CLOSED = Object.assign(new Error("other side closed"), { code: "ECONNRESET" });

/** @param onClosed called if the client closes the connection before its end */
function bodyOf({ pieces, ending }: WireAnswer, signal: AbortSignal | undefined, onClosed: () => void) {
  let at = 0;
  let isOver = false;
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const onAbort = (): void => {
          if (!isOver) onClosed();
          controller.error(signal?.reason);
        };
        signal?.addEventListener("abort", onAbort, { once: true });
      },
      async pull(controller) {
        const piece = pieces[at++];
        if (piece !== undefined) return controller.enqueue(piece);
        if (ending === "stall") await new Promise(() => {});
        isOver = true;
        if (ending === "break") controller.error(new TypeError("terminated", { cause: OTHER_SIDE_CLOSED }));
        else controller.close();
      },
      cancel: onClosed,
    },
    { highWaterMark: 0 },
  );
}

/** Returns the byte offsets at which a pattern matches. The pattern treats each byte as one character. */
function placesOf(bytes: Uint8Array, pattern: RegExp): number[] {
  const text = Buffer.from(bytes).toString("latin1");
  return Array.from(text.matchAll(pattern), ({ index }) => index);
}

/** Returns the byte offsets at which the events of a stream end, after their blank lines. */
export function eventEnds(bytes: Uint8Array): number[] {
  return placesOf(bytes, /(?<=\n\r?)\n/g).map((at) => at + 1);
}

/** Returns the offsets at which cutting a stream can have different results. All cuts within a word are equivalent. */
export function cutPlaces(bytes: Uint8Array): number[] {
  return placesOf(bytes, /(?!(?<=\w\w)\w)(?=[\s\S])/g);
}
