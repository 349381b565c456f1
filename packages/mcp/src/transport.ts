import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { McpServerSettings } from "./types.ts";

/** Bytes of one message, also of one event of a stream. */
const MAX_MESSAGE_BYTES = 10_000_000;
/** How long a server may take to end a session, which nobody waits for any longer. */
const END_MS = 1_000;

/** The transport to a server, not yet started. */
interface OpenTransport {
  readonly transport: Transport;
  /** Tells the server that its session is over, if it has one that outlives the connection. Never rejects. */
  endSession(): Promise<void>;
}

/** `onLog` gets what a process writes apart from messages. */
export async function openTransport(
  settings: McpServerSettings,
  onLog: (text: string) => void,
): Promise<OpenTransport> {
  return "url" in settings ? overHttp(settings) : overStdio(settings, onLog);
}

/** The SDK hands a process `PATH`, `HOME`, `USER` and the like, and nothing else of this one's environment. */
async function overStdio(
  { command, args = [], env = {}, cwd }: Extract<McpServerSettings, { command: string }>,
  onLog: (text: string) => void,
): Promise<OpenTransport> {
  const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
  const transport = new StdioClientTransport({
    command,
    args: [...args],
    env: { ...env },
    ...(cwd === undefined ? {} : { cwd }),
    stderr: "pipe",
    maxBufferSize: MAX_MESSAGE_BYTES,
  });
  transport.stderr?.on("data", (chunk: Buffer) => onLog(chunk.toString("utf8")));
  return { transport, endSession: async () => {} };
}

async function overHttp({
  url,
  headers = {},
}: Extract<McpServerSettings, { url: string }>): Promise<OpenTransport> {
  const { StreamableHTTPClientTransport } = await import(
    "@modelcontextprotocol/sdk/client/streamableHttp.js"
  );
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { ...headers } },
    redirectPolicy: "same-origin",
    fetch: boundedFetch,
  });
  return {
    transport,
    async endSession() {
      const { promise, resolve } = Promise.withResolvers<void>();
      const limit = setTimeout(resolve, END_MS);
      // A server that does not know it any more, or cannot be reached, has ended it.
      await Promise.race([transport.terminateSession().catch(() => {}), promise]);
      clearTimeout(limit);
    },
  };
}

/** A fetch whose answers break off where a body, or one event of a stream, is larger than any message may be. */
async function boundedFetch(url: string | URL, init?: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  if (response.body === null) return response;
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(limit(isStream)), { status, statusText, headers });
}

const [LINE_FEED, CARRIAGE_RETURN] = [10, 13];

function limit(isStream: boolean): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  let lineBytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.length;
      // An event of a stream ends with an empty line.
      for (let at = 0; isStream && at < chunk.length; at++) {
        if (chunk[at] === LINE_FEED) {
          if (lineBytes === 0) bytes = chunk.length - at - 1;
          lineBytes = 0;
        } else if (chunk[at] !== CARRIAGE_RETURN) lineBytes += 1;
      }
      if (bytes > MAX_MESSAGE_BYTES) controller.error(new Error("the server sent far too much"));
      else controller.enqueue(chunk);
    },
  });
}
