import { parseServerFrame, type ServerFrame } from "@signalbox/protocol";
import { createParser } from "eventsource-parser";
import { defaultBackoff, pause } from "./backoff.ts";
import { ClientError, isClientError } from "./errors.ts";

export interface EventsOptions {
  /** Default: the gateway's default agent. */
  agent?: string;
  /** The `cursor` of the last frame that was read. The stream starts after it. */
  after?: string;
  /** Aborting it ends the stream. */
  signal?: AbortSignal;
  /**
   * Maximum number of consecutive failed attempts. After that, the stream throws with the code `network`. Default: no
   * limit.
   */
  retries?: number;
  /**
   * Returns the delay before an attempt in milliseconds. `attempt` counts from 1. Default: 500 doubling to 15,000,
   * minus up to 50 % jitter.
   */
  backoffMs?: (attempt: number) => number;
  /**
   * Milliseconds of silence after which the stream is reopened. Default: 40,000. The gateway sends a keep-alive comment
   * every 15 s.
   */
  silenceMs?: number;
}

/** Opens a stream after a cursor. */
export type OpenStream = (
  after: string | undefined,
  signal: AbortSignal,
) => Promise<ReadableStream<Uint8Array<ArrayBuffer>>>;

/** Error codes that a retry cannot fix. */
const PERMANENT: ReadonlySet<string> = new Set([
  "unauthorized",
  "forbidden",
  "not_found",
  "bad_request",
  "protocol",
]);

/** Yields the frames of an event stream. If the stream breaks, reopens it after the last frame. */
export async function* readEvents(
  open: OpenStream,
  { after, signal, silenceMs = 40_000, ...options }: EventsOptions,
): AsyncGenerator<ServerFrame, undefined> {
  const { retries = Number.POSITIVE_INFINITY, backoffMs = defaultBackoff } = options;
  let cursor = after;
  for (let attempt = 1; signal?.aborted !== true; attempt++) {
    try {
      for await (const frame of readStream(cursor, open, signal, silenceMs)) {
        attempt = 0;
        if ("cursor" in frame) cursor = frame.cursor ?? cursor;
        yield frame;
      }
    } catch (error) {
      if (isClientError(error) && PERMANENT.has(error.code)) throw error;
    }
    if (attempt > retries)
      throw new ClientError({ code: "network", message: "The gateway cannot be reached." });
    await pause(backoffMs(Math.max(attempt, 1)), signal);
  }
  return undefined;
}

/** Yields the frames of one stream. */
async function* readStream(
  after: string | undefined,
  open: OpenStream,
  signal: AbortSignal | undefined,
  silenceMs: number,
): AsyncGenerator<ServerFrame, undefined> {
  const lost = new AbortController();
  let timer = setTimeout(() => lost.abort(), silenceMs);
  const frames: ServerFrame[] = [];
  const parser = createParser({
    onEvent: ({ data }) => {
      const frame = parseServerFrame(data);
      if (frame !== undefined) frames.push(frame);
    },
  });
  try {
    const ends = signal === undefined ? lost.signal : AbortSignal.any([signal, lost.signal]);
    const reader = (await open(after, ends)).pipeThrough(new TextDecoderStream()).getReader();
    try {
      for (let read = await reader.read(); !read.done; read = await reader.read()) {
        clearTimeout(timer);
        timer = setTimeout(() => lost.abort(), silenceMs);
        parser.feed(read.value);
        yield* frames.splice(0);
      }
    } finally {
      // Closes the stream if the consumer leaves the loop.
      reader.cancel().catch(() => {});
    }
  } finally {
    clearTimeout(timer);
  }
  return undefined;
}
