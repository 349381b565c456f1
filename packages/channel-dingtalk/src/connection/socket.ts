import { ChannelError, type Clock } from "@signalbox/channel";
import { createResponse, type Frame, readFrame } from "./frame.ts";

/**
 * Reason for which a socket is no longer used. `announced`: DingTalk delivers nothing on it from now on and closes it
 * soon. `silent`: no frame has arrived for too long. `lost`: it is closed.
 */
type SocketEnd = "announced" | "silent" | "lost";

/** One connection to DingTalk. */
export interface StreamSocket {
  readonly end: Promise<SocketEnd>;
  /** True if any frame has arrived. */
  hasReceived(): boolean;
  close(): void;
}

interface SocketOptions {
  readonly clock: Clock;
  /** Time without a frame after which the socket ends as `silent`, in milliseconds. */
  readonly silenceMs: number;
  /** Handles a callback or an event. Resolves with true if it may be acknowledged. Never rejects. */
  take(frame: Frame): Promise<boolean>;
  /** Called for each frame that cannot be parsed. */
  skipped(): void;
}

/**
 * Opens a connection. Frames are acknowledged on the connection on which they arrived, after `take` has accepted them.
 *
 * @throws ChannelError `transient`
 */
export async function openSocket(
  url: URL,
  options: SocketOptions,
  signal: AbortSignal,
): Promise<StreamSocket> {
  const { clock } = options;
  signal.throwIfAborted();
  const socket = new WebSocket(url);
  const opened = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<SocketEnd>();
  const watching = new AbortController();
  let lastFrameAt: number | undefined;

  const close = (): void => {
    watching.abort();
    socket.close();
  };
  const onLost = (): void => {
    watching.abort();
    // The error of the WebSocket is omitted, because it can contain the URL with its ticket.
    opened.reject(new ChannelError("transient", "DingTalk: the connection was closed", { scope: "account" }));
    ended.resolve("lost");
  };

  async function onMessage(data: unknown): Promise<void> {
    lastFrameAt = clock.now();
    const frame = readFrame(data);
    if (frame === undefined) return options.skipped();
    if (frame.type === "SYSTEM" && frame.topic === "disconnect") return ended.resolve("announced");
    const isTaken = frame.type === "SYSTEM" ? frame.topic === "ping" : await options.take(frame);
    if (isTaken && socket.readyState === WebSocket.OPEN) socket.send(createResponse(frame));
  }

  async function watch(): Promise<void> {
    const openedAt = clock.now();
    for (;;) {
      const waitMs = (lastFrameAt ?? openedAt) + options.silenceMs - clock.now();
      if (waitMs <= 0) return ended.resolve("silent");
      await clock.delay(waitMs, watching.signal);
    }
  }

  socket.addEventListener("open", () => opened.resolve());
  socket.addEventListener("message", ({ data }) => void onMessage(data));
  socket.addEventListener("close", onLost);
  socket.addEventListener("error", onLost);
  signal.addEventListener("abort", close, { once: true });
  try {
    await opened.promise;
  } finally {
    signal.removeEventListener("abort", close);
  }
  watch().catch(() => {});
  return { end: ended.promise, hasReceived: () => lastFrameAt !== undefined, close };
}
