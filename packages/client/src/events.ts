import { parseServerFrame, type ServerFrame } from "@signalbox/protocol";
import { createParser } from "eventsource-parser";
import { defaultBackoff, pause } from "./backoff.ts";
import { ClientError, isClientError } from "./errors.ts";

export interface EventsOptions {
  /** Default: the gateway's default agent. */
  agent?: string;
  /** The `cursor` of the last frame that was seen of the conversation: what came after it is shown first. */
  after?: string;
  /** Aborting it ends the frames. */
  signal?: AbortSignal;
  /** How often in a row it is tried again before it throws with code `network`. Default: no limit. */
  retries?: number;
  /** Milliseconds before a try, `attempt` counts from 1. Default: 500 doubling to 15,000, up to half off. */
  backoffMs?: (attempt: number) => number;
  /** After so many milliseconds of silence the stream counts as lost. Default 40 s; the gateway is silent for 15 s. */
  silenceMs?: number;
}

/** Opens a stream from behind a cursor. */
export type OpenStream = (
  after: string | undefined,
  signal: AbortSignal,
) => Promise<ReadableStream<Uint8Array<ArrayBuffer>>>;

/** What another try does not mend. */
const FINAL: ReadonlySet<string> = new Set([
  "unauthorized",
  "forbidden",
  "not_found",
  "bad_request",
  "protocol",
]);

/** The frames of a stream of events, which is opened anew where it breaks off, from behind the last frame. */
export async function* readEvents(
  open: OpenStream,
  { after, signal, silenceMs = 40_000, ...options }: EventsOptions,
): AsyncGenerator<ServerFrame, undefined> {
  const { retries = Number.POSITIVE_INFINITY, backoffMs = defaultBackoff } = options;
  let cursor = after;
  for (let attempt = 1; signal?.aborted !== true; attempt++) {
    try {
      for await (const frame of framesOf(cursor, open, signal, silenceMs)) {
        attempt = 0;
        if ("cursor" in frame) cursor = frame.cursor ?? cursor;
        yield frame;
      }
    } catch (error) {
      if (isClientError(error) && FINAL.has(error.code)) throw error;
    }
    if (attempt > retries)
      throw new ClientError({ code: "network", message: "The gateway cannot be reached." });
    await pause(backoffMs(Math.max(attempt, 1)), signal);
  }
  return undefined;
}

/** The frames of one stream. */
async function* framesOf(
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
      // Whoever stops reading unsubscribes.
      reader.cancel().catch(() => {});
    }
  } finally {
    clearTimeout(timer);
  }
  return undefined;
}
