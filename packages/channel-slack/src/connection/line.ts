import {
  type ChannelContext,
  type Connection,
  type Health,
  type SupervisedConnection,
  superviseConnection,
} from "@signalbox/channel";
import type { SlackConfig } from "../config.ts";
import type { Envelope } from "../inbound/envelope.ts";
import { limits } from "../limits.ts";
import type { People } from "../people.ts";
import { openSocket } from "./socket.ts";

export interface LineOptions {
  readonly context: ChannelContext<SlackConfig>;
  readonly people: People;
  /** Whether the delivery may be acknowledged. */
  take(envelope: Envelope): Promise<boolean>;
  /** What came since then, milliseconds since the epoch, may have been missed. */
  missed(since: number): Promise<void>;
}

type Line = Pick<SupervisedConnection, "start" | "stop" | "health">;

const timing = { probe: { everyMs: limits.socketCheckMs, withinMs: limits.probeMs } };

/** Slack closes each socket every few hours, and gives an event to any one that stands: one of two is always there. */
const socketCount = 2;

/** Two sockets to Slack. */
export function createSocketLine(options: LineOptions): Line {
  const { context, take, missed } = options;
  const { clock, logger } = context;
  const standing = new Set<Connection>();
  let isGap = false;

  async function open(signal: AbortSignal): Promise<Connection> {
    const socket = await openSocket(context, take, signal);
    standing.add(socket);
    void socket.lost.then((end) => {
      standing.delete(socket);
      // Slack says before it closes one; a socket that died may have taken events with it.
      isGap ||= end !== "announced" || standing.size === 0;
    });
    return socket;
  }

  async function reconnected(lostAt: number): Promise<void> {
    if (!isGap) return;
    isGap = false;
    await missed(lostAt - limits.unnoticedMs);
  }

  const sockets = Array.from({ length: socketCount }, () =>
    superviseConnection({ name: "Slack", open, reconnected, timing, clock, logger }),
  );
  const stop = (): void => {
    for (const socket of sockets) socket.stop();
  };

  return {
    async start(signal) {
      try {
        await Promise.all(sockets.map((socket) => socket.start(signal)));
      } catch (error) {
        stop();
        throw error;
      }
    },
    stop,
    health: () => bestOf(sockets.map((socket) => socket.health())),
  };
}

function bestOf(healths: readonly Health[]): Health {
  return healths.find(({ state }) => state === "ready") ?? healths[0] ?? { state: "starting" };
}

/**
 * Without sockets Slack is asked from time to time whether the bot is still one: that nothing comes in proves nothing.
 */
export function createWebhookLine({ context, people, missed }: LineOptions): Line {
  return superviseConnection({
    name: "Slack",
    async open(signal) {
      await people.ask(signal);
      const { promise: lost, resolve: close } = Promise.withResolvers<void>();
      return { lost, close, probe: (until) => people.ask(until) };
    },
    reconnected: missed,
    timing: { probe: { everyMs: limits.probeEveryMs, withinMs: limits.probeMs } },
    clock: context.clock,
    logger: context.logger,
  });
}
