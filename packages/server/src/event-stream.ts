import type { Context } from "hono";
import { type SSEStreamingApi, streamSSE } from "hono/streaming";

/** A comment line, which clients ignore (HTML standard, "Server-sent events"). */
export const KEEP_ALIVE = ":\n\n";
/** Interval of keep-alive comments. Proxies typically close a connection after 60 s of silence. */
export const KEEP_ALIVE_MS = 15_000;

/** Responds with server-sent events and sends a keep-alive comment every 15 s while `write` runs. */
export function streamEvents(context: Context, write: (stream: SSEStreamingApi) => Promise<void>): Response {
  const response = streamSSE(context, async (stream) => {
    const keepAlive = setInterval(() => void stream.write(KEEP_ALIVE), KEEP_ALIVE_MS);
    try {
      await write(stream);
    } finally {
      clearInterval(keepAlive);
    }
  });
  // Replaces Hono's `no-cache`, which lets a cache store the response.
  response.headers.set("cache-control", "no-store");
  return response;
}
