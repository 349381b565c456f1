import {
  type ChannelContext,
  ChannelError,
  deadline,
  type Health,
  isChannelError,
  objectAt,
  rejectOnAbort,
  superviseConnection,
} from "@signalbox/channel";
import { getBotId, type WecomConfig } from "../config.ts";
import { limits } from "../limits.ts";
import { commands, type IncomingFrame } from "./frames.ts";
import { openSocket, type SocketRequest, type WecomSocket } from "./socket.ts";

export interface LinkOptions {
  readonly context: Pick<ChannelContext<WecomConfig>, "config" | "clock" | "logger">;
  /** Handles a message. Must not throw. */
  onMessage(frame: IncomingFrame): void;
  /** Called after a reconnection. Messages since `lostAt` (milliseconds since the epoch) may have been missed. */
  reconnected(lostAt: number): Promise<void>;
}

/** The connection to WeCom, which is reopened when it is lost. */
export interface Link {
  start(signal: AbortSignal): Promise<void>;
  stop(): void;
  health(): Health;
  /**
   * Sends a frame and returns its acknowledgment. Waits for a connection that is being reopened.
   *
   * @throws ChannelError
   */
  request(request: SocketRequest): Promise<IncomingFrame>;
}

export function createLink({ context, onMessage, reconnected }: LinkOptions): Link {
  const { config, clock, logger } = context;
  const { wsUrl: url, secret = "" } = config;
  let socket: WecomSocket | undefined;
  /** The reason why the latest attempt to connect failed. */
  let failure: ChannelError | undefined;
  let displacedUntil = 0;
  /** Number of times that another program has taken over the connection since it was last stable. */
  let displacements = 0;
  let openedAt = 0;
  /** Resolves after the next attempt to connect. */
  let attempt = Promise.withResolvers<void>();

  function onCallback(frame: IncomingFrame): void {
    if (frame.cmd === commands.message) {
      onMessage(frame);
      return;
    }
    if (objectAt(frame.body, "event")["eventtype"] !== "disconnected_event") return;
    logger.warn("another program has connected as this bot, so WeCom closes this connection");
    if (clock.now() - openedAt > limits.maxDisplacedMs) displacements = 0;
    const pause = Math.min(limits.displacedMs * 2 ** displacements, limits.maxDisplacedMs);
    displacements += 1;
    displacedUntil = clock.now() + pause;
    failure = displaced(pause);
    socket?.close();
  }

  async function open(signal: AbortSignal): Promise<WecomSocket> {
    try {
      const pause = displacedUntil - clock.now();
      if (pause > 0) throw displaced(pause);
      const onUnreadable = (): void => logger.warn("skipped an unreadable frame");
      const opened = await openSocket(
        { url, botId: getBotId(config), secret, clock, onCallback, onUnreadable },
        signal,
      );
      socket = opened;
      openedAt = clock.now();
      failure = undefined;
      void opened.lost.then(() => {
        if (socket === opened) socket = undefined;
      });
      return opened;
    } catch (error) {
      failure = isChannelError(error) ? error : undefined;
      throw error;
    } finally {
      attempt.resolve();
      attempt = Promise.withResolvers();
    }
  }

  const connection = superviseConnection({
    name: "WeCom",
    open,
    reconnected,
    timing: {
      attemptMs: limits.connectMs,
      probe: { everyMs: limits.heartbeatMs, withinMs: limits.ackMs },
    },
    clock,
    logger,
  });

  async function getSocket({ what, signal }: SocketRequest): Promise<WecomSocket> {
    const limit = deadline(limits.reconnectWaitMs, signal);
    try {
      while (socket === undefined) {
        // Waiting would not help: the credentials are wrong, or the next attempt is in minutes.
        if (failure?.code === "auth") throw failure;
        if (failure?.retryAfterMs !== undefined) throw disconnected(what, failure.retryAfterMs);
        await rejectOnAbort(attempt.promise, limit.signal, () => disconnected(what));
      }
      return socket;
    } finally {
      limit.end();
    }
  }

  return {
    start: (signal) => connection.start(signal),
    stop() {
      connection.stop();
      socket?.close();
    },
    health: () => connection.health(),
    async request(request) {
      const { signal, what } = request;
      if (signal.aborted) throw new ChannelError("transient", `WeCom: ${what}: not sent`);
      return (await getSocket(request)).request(request);
    },
  };
}

function displaced(retryAfterMs: number): ChannelError {
  return new ChannelError("transient", "WeCom: another program is connected as this bot", {
    scope: "account",
    retryAfterMs,
  });
}

/** The error concerns only this request. The health of the account follows its connection. */
function disconnected(what: string, retryAfterMs?: number): ChannelError {
  return new ChannelError("transient", `WeCom: ${what}: no connection`, { retryAfterMs });
}
