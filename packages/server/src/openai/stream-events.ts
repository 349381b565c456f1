import type { Context } from "hono";
import { type SSEStreamingApi, streamSSE } from "hono/streaming";
import { COMMENT, COMMENT_MS } from "../comments.ts";

/** Answers with events, and keeps the connection alive while an agent works without writing anything. */
export function streamEvents(context: Context, write: (stream: SSEStreamingApi) => Promise<void>): Response {
  const response = streamSSE(context, async (stream) => {
    const comments = setInterval(() => void stream.write(COMMENT), COMMENT_MS);
    try {
      await write(stream);
    } finally {
      clearInterval(comments);
    }
  });
  // Hono's own word would let a cache keep them.
  response.headers.set("cache-control", "no-store");
  return response;
}
