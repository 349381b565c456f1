import type { ClientRequest, Agent as HttpAgent, IncomingMessage, RequestOptions } from "node:http";
import type { FetchLike } from "../provider.ts";

const incomingOf = new WeakMap<Response, IncomingMessage>();

/** The Node.js message under a response of `keepAliveFetch`, for a reader that does without web streams. */
export function incomingMessage(response: Response): IncomingMessage | undefined {
  return incomingOf.get(response);
}

/** A web stream over a Node.js message that reads nothing before somebody asks, and no more than is asked for. */
function webBody(incoming: IncomingMessage): ReadableStream<Uint8Array> {
  let begun = false;
  let wake: (() => void) | undefined;
  const settle = (): void => {
    wake?.();
    wake = undefined;
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (!begun) {
          begun = true;
          incoming.on("readable", settle).on("end", settle).on("close", settle).on("error", settle);
        }
        for (;;) {
          const chunk: Buffer | null = incoming.read();
          if (chunk !== null) {
            controller.enqueue(chunk);
            return;
          }
          if (incoming.errored !== null) {
            controller.error(incoming.errored);
            return;
          }
          if (incoming.readableEnded) {
            controller.close();
            return;
          }
          if (incoming.destroyed) {
            controller.error(new Error("terminated"));
            return;
          }
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      },
      cancel() {
        incoming.destroy();
      },
    },
    { highWaterMark: 0 },
  );
}

const NO_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

/** The web response of a Node.js message. */
export function toResponse(incoming: IncomingMessage): Response {
  const status = incoming.statusCode ?? 502;
  const empty = NO_BODY.has(status);
  if (empty) incoming.resume();
  const body = empty ? null : webBody(incoming);
  const response = new Response(body, { status, statusText: incoming.statusMessage ?? "" });
  // Headers given to the constructor would be copied twice.
  const names = incoming.rawHeaders;
  // A `Response` that a server framework has put in the place of the global one may come with a type of its own.
  response.headers.delete("content-type");
  for (let i = 0; i + 1 < names.length; i += 2) response.headers.append(names[i] ?? "", names[i + 1] ?? "");
  if (!empty) incomingOf.set(response, incoming);
  return response;
}

/** Headers as Node.js' client takes them. */
export function plainHeaders(headers: RequestInit["headers"]): Record<string, string> {
  const plain: Record<string, string> = {};
  const given = headers instanceof Headers ? headers : new Headers(headers);
  given.forEach((value, name) => {
    plain[name] = value;
  });
  return plain;
}

function abortError(signal: AbortSignal): Error {
  return signal.reason instanceof Error ? signal.reason : new DOMException("Aborted", "AbortError");
}

interface Wire {
  readonly agent: HttpAgent;
  readonly request: (options: RequestOptions) => ClientRequest;
}

/**
 * Loaded when first used, and not by `import`: that would evaluate every export of `node:http`, some of which load
 * all of the global `fetch` (some 40 ms), and TLS is not needed for a local server.
 */
function openWire(protocol: string): Wire {
  const { Agent, request } =
    protocol === "https:" ? process.getBuiltinModule("node:https") : process.getBuiltinModule("node:http");
  return { agent: new Agent({ keepAlive: true, scheduling: "lifo" }), request };
}

/** Bytes from which on a body is sent apart from its head. */
const LONG_BODY = 4_096;

/** One request over `http:` or `https:`. */
interface Exchange {
  readonly url: URL;
  readonly method: string;
  /** The length of the body is added. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | readonly string[] | Uint8Array | null | undefined;
  readonly signal?: AbortSignal | null | undefined;
}

/** Sends a request and gives the answer as soon as its head has come. It rejects when aborted before that. */
export type SendExchange = (exchange: Exchange) => Promise<IncomingMessage>;

/**
 * Node.js' own HTTP client with kept connections. A request written to a kept connection that the server had just
 * closed is sent once more on a fresh one, unless `resend` is false.
 */
export function keepAliveWire({ resend = true }: { readonly resend?: boolean } = {}): SendExchange {
  const wires = new Map<string, Wire>();
  const wireFor = (protocol: string): Wire => {
    let wire = wires.get(protocol);
    if (wire === undefined) {
      wire = openWire(protocol);
      wires.set(protocol, wire);
    }
    return wire;
  };

  return ({ url, method, headers: given, body = null, signal }) => {
    if (signal?.aborted === true) return Promise.reject(abortError(signal));
    const { agent, request: open } = wireFor(url.protocol);
    const headers: Record<string, string> = { ...given };
    const parts = body === null ? [] : typeof body === "string" || body instanceof Uint8Array ? [body] : body;
    const encodings: BufferEncoding[] = [];
    let length = 0;
    for (const part of parts) {
      const bytes = Buffer.byteLength(part);
      length += bytes;
      // One byte a character is plain ASCII, which needs no encoding.
      encodings.push(bytes === part.length ? "latin1" : "utf8");
    }
    if (body !== null) headers["content-length"] = String(length);
    const options: RequestOptions = {
      agent,
      hostname: url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname,
      port: url.port,
      path: url.pathname + url.search,
      method,
      headers,
    };

    return new Promise<IncomingMessage>((resolve, reject) => {
      let request: ClientRequest;
      let answered: IncomingMessage | undefined;
      const onAbort = (): void => {
        request.destroy();
        answered?.destroy();
        if (signal) reject(abortError(signal));
      };
      const send = (again: boolean): void => {
        request = open(options);
        request.once("response", (incoming) => {
          answered = incoming;
          if (signal) incoming.once("close", () => signal.removeEventListener("abort", onAbort));
          resolve(incoming);
        });
        request.on("error", (error: NodeJS.ErrnoException) => {
          if (answered !== undefined) return;
          if (again && request.reusedSocket && (error.code === "ECONNRESET" || error.code === "EPIPE")) {
            if (signal?.aborted !== true) send(false);
            return;
          }
          signal?.removeEventListener("abort", onAbort);
          reject(error);
        });
        // Otherwise the head and the first part are joined into another copy of that.
        if (length > LONG_BODY) request.flushHeaders();
        const last = parts.length - 1;
        for (let i = 0; i < last; i++) request.write(parts[i], encodings[i] ?? "utf8");
        request.end(parts[last] ?? null, encodings[last] ?? "utf8");
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      send(resend);
    });
  };
}

interface Target {
  readonly text: string;
  readonly url: URL;
}

/**
 * A `fetch` over Node.js' own HTTP client with kept connections, several times cheaper than the global one. It covers
 * what the vendors' SDKs ask of it: text or byte bodies, abort, streamed answers. It follows no redirects (a model
 * server has no business sending a key elsewhere) and asks for no compression. Whatever else it is asked for (a form,
 * a streamed body, another scheme) goes to the global `fetch`.
 *
 * A request written to a kept connection that the server had just closed is sent once more on a fresh one, unless
 * `resend` is false: where the same request twice could take effect twice, an error is the better answer.
 */
export function keepAliveFetch(options: { readonly resend?: boolean } = {}): FetchLike {
  const send = keepAliveWire(options);
  let last: Target | undefined;

  return async (input, init = {}) => {
    let url: URL | undefined;
    if (input instanceof URL) url = input;
    else if (typeof input === "string") {
      // A vendor is asked at one address over and over.
      if (last?.text !== input) last = { text: input, url: new URL(input) };
      url = last.url;
    }
    const { body, method = "GET", signal } = init;
    const plainBody =
      body === undefined || body === null || typeof body === "string" || body instanceof Uint8Array;
    if (url === undefined || !plainBody || (url.protocol !== "http:" && url.protocol !== "https:"))
      return fetch(input, init);
    return toResponse(await send({ url, method, headers: plainHeaders(init.headers), body, signal }));
  };
}
