import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { createAuthorizedFetch } from "./authorized-fetch.ts";
import { getRequestId, normalizeText, type RequestId } from "./messages.ts";
import type { TokenSource } from "./sign-in/token-source.ts";
import { StdioTransport } from "./stdio-transport.ts";
import type { McpServerSettings } from "./types.ts";

/** Maximum size in bytes of one message, and of one event of a stream. */
const MAX_MESSAGE_BYTES = 10_000_000;
/** Time limit for ending a session, in milliseconds. */
const END_SESSION_MS = 1_000;

interface OpenTransport {
  readonly transport: Transport;
  /** Ends the session of a server over HTTP. Never rejects. */
  endSession(): Promise<void>;
}

/**
 * Creates the transport to a server without starting it.
 *
 * @param onLog called with a process's output on standard error
 * @param tokens the tokens of a sign-in at a server over HTTP
 */
export async function openTransport(
  settings: McpServerSettings,
  onLog: (text: string) => void,
  tokens: TokenSource | undefined,
): Promise<OpenTransport> {
  if ("url" in settings) return openHttpTransport(settings, tokens);
  const transport = new StdioTransport({ settings, maxMessageBytes: MAX_MESSAGE_BYTES, onStderr: onLog });
  return { transport, endSession: async () => {} };
}

async function openHttpTransport(
  { url, headers = {} }: Extract<McpServerSettings, { url: string }>,
  tokens: TokenSource | undefined,
): Promise<OpenTransport> {
  const { StreamableHTTPClientTransport } = await import(
    "@modelcontextprotocol/sdk/client/streamableHttp.js"
  );
  const hasToken = Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { ...headers } },
    redirectPolicy: "same-origin",
    fetch: hasToken || tokens === undefined ? fetchMessages : createAuthorizedFetch(fetchMessages, tokens),
  });
  return {
    transport,
    async endSession() {
      const { promise, resolve } = Promise.withResolvers<void>();
      const limit = setTimeout(resolve, END_SESSION_MS);
      // If this fails, the server has already ended the session or cannot be reached.
      await Promise.race([transport.terminateSession().catch(() => {}), promise]);
      clearTimeout(limit);
    },
  };
}

/** Fetches with a limit on the size of messages, and normalizes them. */
async function fetchMessages(url: string | URL, init?: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  if (response.body === null) return response;
  const { status, statusText, headers } = response;
  const type = headers.get("content-type") ?? "";
  const isStream = type.startsWith("text/event-stream");
  const limited = response.body.pipeThrough(limitSize(isStream));
  const how = { status, statusText, headers };
  if (!response.ok) return new Response(limited, how);
  const pending = readRequestId(init?.body);
  if (isStream) return new Response(limited.pipeThrough(normalizeEvents(pending)), how);
  const text = normalizeText(await new Response(limited).text(), pending);
  // Some servers state another type, or none.
  const isOther = !type.includes("json") && /^\s*[[{]/.test(text);
  if (isOther) how.headers = withType(headers, "application/json");
  return new Response(text, how);
}

function withType(headers: Headers, type: string): Headers {
  const changed = new Headers(headers);
  changed.set("content-type", type);
  return changed;
}

/** Returns the id of the request in a body, unless there are several. */
function readRequestId(body: RequestInit["body"]): RequestId | undefined {
  try {
    return typeof body === "string" ? getRequestId(JSON.parse(body)) : undefined;
  } catch {
    return undefined;
  }
}

const [LINE_FEED, CARRIAGE_RETURN] = [10, 13];

function limitSize(isStream: boolean): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  let lineBytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.length;
      // An empty line ends an event.
      for (let at = 0; isStream && at < chunk.length; at++) {
        if (chunk[at] === LINE_FEED) {
          if (lineBytes === 0) bytes = chunk.length - at - 1;
          lineBytes = 0;
        } else if (chunk[at] !== CARRIAGE_RETURN) lineBytes += 1;
      }
      if (bytes > MAX_MESSAGE_BYTES)
        controller.error(new Error(`the server sent more than ${MAX_MESSAGE_BYTES} bytes`));
      else controller.enqueue(chunk);
    },
  });
}

/** Normalizes the messages of an event stream. A message that spans several `data` lines stays unchanged. */
function normalizeEvents(pending: RequestId | undefined): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let rest = "";
  const convert = (line: string): string => {
    const [, field, data] = /^(data: ?)(\{.*)$/.exec(line.replace(/\r$/, "")) ?? [];
    return field === undefined || data === undefined ? line : `${field}${normalizeText(data, pending)}`;
  };
  return new TransformStream({
    transform(chunk, controller) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      if (lines.length > 0) controller.enqueue(encoder.encode(`${lines.map(convert).join("\n")}\n`));
    },
    flush(controller) {
      rest += decoder.decode();
      if (rest !== "") controller.enqueue(encoder.encode(convert(rest)));
    },
  });
}
