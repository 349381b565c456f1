import {
  type ChannelContext,
  type Connection,
  reasonOf,
  type SupervisedConnection,
  superviseConnection,
  textAt,
} from "@signalbox/channel";
import type { DingTalkApi } from "../api.ts";
import type { DingTalkConfig } from "../config.ts";
import { checkStreamUrl } from "../hosts.ts";
import { limits } from "../limits.ts";
import { type Frame, subscriptions } from "./frame.ts";
import { openSocket, type StreamSocket } from "./socket.ts";

interface StreamOptions {
  readonly context: ChannelContext<DingTalkConfig>;
  readonly api: DingTalkApi;
  /** Handles a callback or an event. Resolves with true if it may be acknowledged. Never rejects. */
  take(frame: Frame): Promise<boolean>;
}

/**
 * Receives messages over a connection that DingTalk replaces often. When DingTalk announces the end of a socket, or
 * when a socket has been silent for too long, a new one is opened before the old one is closed. The old one stays open
 * for a while, because what it has received is acknowledged on it.
 */
export function createStreamConnection({ context, api, take }: StreamOptions): SupervisedConnection {
  const { clock, logger, config } = context;
  let silenceMs: number = limits.silenceMs;

  async function open(signal: AbortSignal): Promise<StreamSocket> {
    const answer = await api.openConnection(subscriptions, signal);
    const url = checkStreamUrl(textAt(answer, "endpoint") ?? "", config.apiBaseUrl);
    url.searchParams.set("ticket", textAt(answer, "ticket") ?? "");
    const skipped = () => logger.warn("skipped an unreadable frame");
    return openSocket(url, { clock, silenceMs, take, skipped }, signal);
  }

  return superviseConnection({
    name: "DingTalk",
    async open(signal) {
      return keepReplacing(await open(signal));
    },
    timing: { attemptMs: limits.connectMs },
    clock,
    logger,
  });

  /** Returns a connection that is lost only if a socket ends and no other one can be opened. */
  function keepReplacing(first: StreamSocket): Connection {
    const closing = new AbortController();
    const lost = Promise.withResolvers<void>();
    const sockets = new Set([first]);

    async function replace(): Promise<void> {
      let current = first;
      for (;;) {
        const end = await current.end;
        if (closing.signal.aborted || end === "lost") return;
        if (current.hasReceived()) silenceMs = limits.silenceMs;
        else if (end === "silent") silenceMs = Math.min(silenceMs * 2, limits.maxSilenceMs);
        const limit = AbortSignal.any([closing.signal, AbortSignal.timeout(limits.connectMs)]);
        const next = await open(limit);
        if (closing.signal.aborted) return next.close();
        sockets.add(next);
        logger.debug("replaced a connection", { reason: end });
        void retire(current);
        current = next;
      }
    }

    async function retire(socket: StreamSocket): Promise<void> {
      await clock.delay(limits.lingerMs, closing.signal).catch(() => {});
      sockets.delete(socket);
      socket.close();
    }

    replace()
      .catch((error: unknown) => logger.warn("a connection was not replaced", { reason: reasonOf(error) }))
      .finally(() => lost.resolve());
    return {
      lost: lost.promise,
      close() {
        closing.abort();
        for (const socket of sockets) socket.close();
      },
    };
  }
}
