import type { WebSocketManager } from "@discordjs/ws";
import {
  type ChannelContext,
  type ChannelError,
  type Connection,
  reasonOf,
  type SupervisedConnection,
  superviseConnection,
} from "@signalbox/channel";
import type { DiscordApi } from "../api.ts";
import type { DiscordConfig } from "../config.ts";
import { toChannelError } from "../errors.ts";
import { limits } from "../limits.ts";
import { loadGateway } from "../sdk.ts";
import { closedBy, isSessionOver, unconnected } from "./close-codes.ts";
import type { Session } from "./session.ts";

interface GatewayOptions {
  readonly context: ChannelContext<DiscordConfig>;
  readonly api: DiscordApi;
  readonly session: Session;
  /** A connection opens. What it gives is told everything that comes over that connection, in order. */
  listen(): (event: unknown) => void;
  /** A new session stands: what happened since the one before, or while no process ran, is not told any more. */
  missed(lostAt: number | undefined): Promise<void>;
}

/** A connection to Discord's gateway. */
export interface GatewayConnection extends Omit<SupervisedConnection, "startOver"> {
  /** Gives the connection up that stands, so that Discord tells again what was not taken. */
  lose(): void;
}

/** Source: Discord's pages on intents and on gateway operation codes. */
const intents = {
  guilds: 1 << 0,
  guildMessages: 1 << 9,
  guildReactions: 1 << 10,
  directMessages: 1 << 12,
  directReactions: 1 << 13,
  messageContent: 1 << 15,
} as const;
const heartbeat = 1;
/** Leaves the session as it is, to be taken up again: 1000 and 1001 would end it. */
const leave = 4200;

/**
 * The gateway through discord.js's client. That one connects again by itself, with no limit to how long it takes; so
 * each of its managers is used for one connection only, and the session is kept here.
 */
export function createConnection(options: GatewayOptions): GatewayConnection {
  const { context, session } = options;
  let standing: Attempt | undefined;

  async function open(signal: AbortSignal): Promise<Connection> {
    if (session.current() === null) return connect(signal);
    try {
      return await connect(signal, limits.resumeMs);
    } catch (error) {
      if (signal.aborted || session.current() !== null) throw error;
      // The old session was over: a new one can begin at once.
      return connect(signal);
    }
  }

  /** @param resumeMs how long Discord may take to go on with the session before that is given up */
  async function connect(signal: AbortSignal, resumeMs?: number): Promise<Connection> {
    const attempt = openOnce(options);
    standing = attempt;
    const giveUp = (): void => attempt.connection.close();
    signal.addEventListener("abort", giveUp, { once: true });
    const finished = new AbortController();
    if (resumeMs !== undefined) {
      const isLate = attempt.reached.then(() => context.clock.delay(resumeMs, finished.signal));
      isLate.then(
        () => session.forget().then(giveUp, giveUp),
        () => {},
      );
    }
    try {
      await attempt.ready;
      return attempt.connection;
    } catch (error) {
      throw signal.aborted ? signal.reason : error;
    } finally {
      finished.abort();
      signal.removeEventListener("abort", giveUp);
    }
  }

  async function unlessResumed(lostAt?: number): Promise<void> {
    if ((await standing?.ready)?.isNew === true) await options.missed(lostAt);
  }

  const supervised = superviseConnection({
    name: "Discord",
    open,
    reconnected: unlessResumed,
    timing: {
      attemptMs: limits.connectMs,
      pauseMs: limits.reconnectMs,
      mostPauseMs: limits.reconnectMostMs,
      probe: { everyMs: limits.probeMs, withinMs: limits.pongMs },
    },
    clock: context.clock,
    logger: context.logger,
  });
  return {
    stop: () => supervised.stop(),
    health: () => supervised.health(),
    async start(signal) {
      await supervised.start(signal);
      unlessResumed().catch((error: unknown) => {
        context.logger.warn("what was said before the start could not be read", { reason: reasonOf(error) });
      });
    },
    lose() {
      // It is the host that could not take an event; it may be able to in a moment.
      supervised.startOver();
      standing?.connection.close();
    },
  };
}

interface Attempt {
  /** Resolves when Discord has said where to connect: from then on its silence is no broken line of ours. */
  readonly reached: Promise<unknown>;
  /** Resolves when the session has begun, or goes on. */
  readonly ready: Promise<{ readonly isNew: boolean }>;
  readonly connection: Connection;
}

function openOnce({ context, api, session, listen }: GatewayOptions): Attempt {
  const { WebSocketShardEvents } = loadGateway();
  const ready = Promise.withResolvers<{ readonly isNew: boolean }>();
  const lost = Promise.withResolvers<void>();
  const dispatch = listen();
  let isOver = false;
  let isOpen = false;
  const manager = managerOf({ context, api, session }, () => isOver);

  function end(error: ChannelError): void {
    isOver = true;
    ready.reject(error);
    lost.resolve();
  }

  function close(): void {
    end(unconnected("the connection was closed"));
    // A line that is closed while it is being opened would be let go of and stay open.
    if (isOpen) Promise.resolve(manager.destroy({ code: leave })).catch(() => {});
  }

  manager.on(WebSocketShardEvents.Hello, () => {
    isOpen = true;
    // Not within the greeting: what the client sets up for it has to be there to be taken down.
    if (isOver) queueMicrotask(close);
  });
  manager.on(WebSocketShardEvents.Ready, () => ready.resolve({ isNew: true }));
  manager.on(WebSocketShardEvents.Resumed, () => ready.resolve({ isNew: false }));
  manager.on(WebSocketShardEvents.Closed, (code) => {
    if (!isOver && isSessionOver(code)) void session.forget().catch(() => {});
    end(closedBy(code));
  });
  manager.on(WebSocketShardEvents.Error, (error) => end(unconnected(error.message)));
  manager.on(WebSocketShardEvents.SocketError, (error) => end(unconnected(error.message)));
  manager.on(WebSocketShardEvents.Dispatch, (event) => {
    if (!isOver) dispatch(event);
  });
  const reached = manager.fetchGatewayInformation();
  reached
    .then(() => manager.connect())
    .catch((error: unknown) => end(toChannelError(error, { what: "connecting", isWrite: false })));
  // Awaited by the caller; until then a failure must not count as unhandled.
  ready.promise.catch(() => {});

  const connection: Connection = {
    lost: lost.promise,
    probe: (signal) => signOfLife(manager, session, signal),
    close,
  };
  return { reached, ready: ready.promise, connection };
}

/** A client of discord.js for one connection. @param isOver from then on it leaves the session alone */
function managerOf(
  { context, api, session }: Pick<GatewayOptions, "context" | "api" | "session">,
  isOver: () => boolean,
): WebSocketManager {
  const { WebSocketManager } = loadGateway();
  return new WebSocketManager({
    token: context.config.token,
    intents: intentsOf(context.config),
    rest: api.rest(),
    shardCount: 1,
    handshakeTimeout: limits.connectMs,
    helloTimeout: limits.connectMs,
    readyTimeout: limits.connectMs,
    // It asks for the session before it connects again, which it is not to: then it waits for ever.
    retrieveSessionInfo: () => (isOver() ? new Promise<never>(() => {}) : session.current()),
    async updateSessionInfo(_, info) {
      if (isOver()) return;
      try {
        if (info === null) await session.forget();
        else if (info.sessionId !== session.current()?.sessionId) await session.begin(info);
      } catch (error) {
        // Nobody would hear of it, which ends the process. The session is known
        // here, and written with its next position.
        context.logger.warn("a session could not be kept", { reason: reasonOf(error) });
      }
    },
  });
}

function intentsOf({ messageContent }: DiscordConfig): number {
  const { guilds, guildMessages, guildReactions, directMessages, directReactions } = intents;
  const always = guilds | guildMessages | guildReactions | directMessages | directReactions;
  return messageContent ? always | intents.messageContent : always;
}

/** Resolves once Discord has answered a heartbeat. */
async function signOfLife(manager: WebSocketManager, session: Session, signal: AbortSignal): Promise<void> {
  const { WebSocketShardEvents } = loadGateway();
  const { promise, resolve } = Promise.withResolvers<void>();
  const answered = (): void => resolve();
  manager.on(WebSocketShardEvents.HeartbeatComplete, answered);
  try {
    await manager.send(0, { op: heartbeat, d: session.current()?.sequence ?? null });
    signal.addEventListener("abort", answered, { once: true });
    await promise;
  } finally {
    manager.off(WebSocketShardEvents.HeartbeatComplete, answered);
    signal.removeEventListener("abort", answered);
  }
}
