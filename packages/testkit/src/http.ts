import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

/** A fake server on a loopback port. */
export interface FakeServer {
  /** For instance `http://127.0.0.1:40123`, without a trailing slash. */
  readonly url: string;
  /** Responds to requests under this path with `answer` from now on. */
  answerAt(path: string, answer: () => Response): void;
  /** Stops listening and ends open connections. May be called twice. */
  stop(): Promise<void>;
}

/** A received request. */
export interface SeenRequest {
  readonly method: string;
  /** Path with query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The body as text. Empty if there was none. */
  readonly text: string;
  /** The bytes of a `multipart/form-data` body. In this case, `text` is empty. */
  readonly bytes?: Uint8Array<ArrayBuffer>;
  /** Time at which the whole body had arrived, in milliseconds since the epoch, with fractions. */
  readonly at: number;
}

type Handler = (request: SeenRequest, response: ServerResponse, raw: IncomingMessage) => void | Promise<void>;

/** Serves `handler` on 127.0.0.1. If the handler throws, the response is 500 with the error's message. */
export async function listen(handler: Handler, port = 0): Promise<FakeServer> {
  const answers = new Map<string, () => Response>();
  const answerOf = (asked: string) => [...answers].find(([path]) => asked.startsWith(path))?.[1];
  const server: Server = createServer((raw, response) => {
    const chunks: Buffer[] = [];
    raw.on("data", (chunk: Buffer) => chunks.push(chunk));
    raw.on("end", () => {
      const body = Buffer.concat(chunks);
      const isForm = raw.headers["content-type"]?.startsWith("multipart/form-data") === true;
      const seen: SeenRequest = {
        method: raw.method ?? "GET",
        path: raw.url ?? "/",
        headers: raw.headers,
        text: isForm ? "" : body.toString("utf8"),
        bytes: isForm ? new Uint8Array(body) : undefined,
        at: performance.timeOrigin + performance.now(),
      };
      Promise.resolve()
        .then(() => {
          const answer = answerOf(seen.path);
          return answer === undefined ? handler(seen, response, raw) : write(response, answer());
        })
        .catch((error: unknown) => {
          if (!response.headersSent) response.writeHead(500, { "content-type": "text/plain" });
          response.end(error instanceof Error ? (error.stack ?? error.message) : String(error));
        });
    });
    raw.on("error", () => response.destroy());
  });
  // On a busy machine, a client could send a request over a connection that is just being closed as idle.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  const { port: bound } = server.address() as AddressInfo;
  let stopped: Promise<void> | undefined;
  return {
    url: `http://127.0.0.1:${bound}`,
    answerAt: (path, answer) => void answers.set(path, answer),
    stop() {
      stopped ??= new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
      return stopped;
    },
  };
}

/** Returns a port on which no server listens. */
export async function freePort(): Promise<number> {
  const { url, stop } = await listen(() => {});
  await stop();
  return Number(new URL(url).port);
}

async function write(response: ServerResponse, { status, headers, body }: Response): Promise<void> {
  response.writeHead(status, Object.fromEntries(headers));
  response.flushHeaders();
  if (body === null) response.end();
  else await pipeline(Readable.fromWeb(body), response);
}

/** Responds with JSON. */
export function json(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}

/** Returns the fields of an upload, or `undefined` for any other request. */
export async function formOf({ headers, bytes }: SeenRequest): Promise<FormData | undefined> {
  if (bytes === undefined) return undefined;
  const type = { "content-type": String(headers["content-type"]) };
  return new Response(bytes, { headers: type }).formData().catch(() => undefined);
}

/** Parses JSON. Returns `undefined` if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return text === "" ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
