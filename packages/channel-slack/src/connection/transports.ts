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

export interface TransportOptions {
  readonly context: ChannelContext<SlackConfig>;
  readonly people: People;
  /**
   * Handles a delivery.
   *
   * @returns true if it may be acknowledged
   */
  take(envelope: Envelope): Promise<boolean>;
  /** Called before a connection on which events may arrive before the missed ones have been read. */
  expectGaps(): void;
  /** Called if events since this time (milliseconds since the epoch) may have been missed. */
  missed(since: number): Promise<void>;
}

type Transport = Pick<SupervisedConnection, "start" | "stop" | "health">;

const timing = { probe: { everyMs: limits.socketCheckMs, withinMs: limits.probeMs } };

/**
 * Slack closes each socket every few hours and sends each event to only one socket. With two sockets, one is always
 * open.
 */
const SOCKET_COUNT = 2;

/** Opens two sockets to Slack. */
export function createSocketTransport(options: TransportOptions): Transport {
  const { context, take, missed } = options;
  const { clock, logger } = context;
  const standing = new Set<Connection>();
  let isGap = false;

  async function open(signal: AbortSignal): Promise<Connection> {
    if (isGap) options.expectGaps();
    const socket = await openSocket(context, take, signal);
    standing.add(socket);
    void socket.lost.then((end) => {
      standing.delete(socket);
      // Slack announces that it will close a socket. A socket that died may have lost events.
      isGap ||= end !== "announced" || standing.size === 0;
    });
    return socket;
  }

  async function reconnected(lostAt: number): Promise<void> {
    if (!isGap) return;
    isGap = false;
    await missed(lostAt - limits.unnoticedMs);
  }

  const sockets = Array.from({ length: SOCKET_COUNT }, () =>
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
    health: () => getBestHealth(sockets.map((socket) => socket.health())),
  };
}

function getBestHealth(healths: readonly Health[]): Health {
  return healths.find(({ state }) => state === "ready") ?? healths[0] ?? { state: "starting" };
}

/** Checks the credentials periodically. Without sockets, the absence of events proves nothing. */
export function createWebhookTransport({ context, people, missed }: TransportOptions): Transport {
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
