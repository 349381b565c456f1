import type { WebSocketManager } from "@discordjs/ws";
import {
  type ChannelContext,
  ChannelError,
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
import { createConnectionError, isSessionOver, toCloseError } from "./close-codes.ts";
import type { Session } from "./session.ts";

interface GatewayOptions {
  readonly context: ChannelContext<DiscordConfig>;
  readonly api: DiscordApi;
  readonly session: Session;
  /** Called for each new connection. The returned function receives all events of the connection in order. */
  listen(): (event: unknown) => void;
  /** Called when a new session starts, before its first event. Discord does not deliver events from before it. */
  sessionBegins(): void;
  /** Called after a new session has started. */
  missed(lostAt: number | undefined): Promise<void>;
}

/** A connection to Discord's gateway. */
export interface GatewayConnection extends Omit<SupervisedConnection, "startOver"> {
  /** Drops the current connection, so that Discord redelivers unaccepted events. */
  lose(): void;
}

/** Sources: "Gateway Intents", "Gateway Opcodes". */
const intents = {
  guilds: 1 << 0,
  guildMessages: 1 << 9,
  guildReactions: 1 << 10,
  directMessages: 1 << 12,
  directReactions: 1 << 13,
  messageContent: 1 << 15,
} as const;
const HEARTBEAT_OPCODE = 1;
/** Close code that keeps the session resumable. 1000 and 1001 would end it. */
const RESUMABLE_CLOSE = 4200;

/**
 * Connects through discord.js's gateway client. That client reconnects on its own without a time limit, so each client
 * is used for only one connection and the session is stored here.
 */
export function createConnection(options: GatewayOptions): GatewayConnection {
  const { context, session } = options;
  const beforeSession = createSessionPace(context.clock.now);
  let standing: Attempt | undefined;

  async function open(signal: AbortSignal): Promise<Connection> {
    if (session.current() === null) return connect(signal);
    try {
      return await connect(signal, limits.resumeMs);
    } catch (error) {
      if (signal.aborted || session.current() !== null) throw error;
      // The old session has ended, so a new one can start immediately.
      return connect(signal);
    }
  }

  /** @param resumeMs time limit for Discord to resume the session, in milliseconds */
  async function connect(signal: AbortSignal, resumeMs?: number): Promise<Connection> {
    const attempt = openOnce(options, beforeSession);
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

  async function catchUpUnlessResumed(lostAt?: number): Promise<void> {
    if ((await standing?.ready)?.isNew === true) await options.missed(lostAt);
  }

  const supervised = superviseConnection({
    name: "Discord",
    open,
    reconnected: catchUpUnlessResumed,
    timing: {
      attemptMs: limits.connectMs,
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
      catchUpUnlessResumed().catch((error: unknown) => {
        context.logger.warn("failed to read messages from before the start", { reason: reasonOf(error) });
      });
    },
    lose() {
      // The host rejected an event but may accept it a moment later, so the delay is not increased.
      supervised.startOver();
      standing?.connection.close();
    },
  };
}

interface Attempt {
  /** Resolves once Discord has returned the gateway URL. A later failure is not a network problem. */
  readonly reached: Promise<unknown>;
  /** Resolves once the session has started or resumed. */
  readonly ready: Promise<{ readonly isNew: boolean }>;
  readonly connection: Connection;
}

function openOnce(
  { context, api, session, listen, sessionBegins }: GatewayOptions,
  beforeSession: SessionPace,
): Attempt {
  const { WebSocketShardEvents } = loadGateway();
  const ready = Promise.withResolvers<{ readonly isNew: boolean }>();
  const lost = Promise.withResolvers<void>();
  const dispatch = listen();
  let isOver = false;
  let isOpen = false;
  const manager = createManager({ context, api, session }, () => isOver);

  function end(error: ChannelError): void {
    isOver = true;
    ready.reject(error);
    lost.resolve();
  }

  function close(): void {
    end(createConnectionError("the connection was closed"));
    // A socket that is closed while it is opening would stay open without an owner.
    if (isOpen) Promise.resolve(manager.destroy({ code: RESUMABLE_CLOSE })).catch(() => {});
  }

  manager.on(WebSocketShardEvents.Hello, () => {
    isOpen = true;
    // Not called synchronously, because the client's timers must exist before they can be cleared.
    if (isOver) queueMicrotask(close);
  });
  manager.on(WebSocketShardEvents.Ready, () => {
    if (!isOver) sessionBegins();
    ready.resolve({ isNew: true });
  });
  manager.on(WebSocketShardEvents.Resumed, () => ready.resolve({ isNew: false }));
  manager.on(WebSocketShardEvents.Closed, (code) => {
    if (!isOver && isSessionOver(code)) void session.forget().catch(() => {});
    end(toCloseError(code));
  });
  manager.on(WebSocketShardEvents.Error, (error) => end(createConnectionError(error.message)));
  manager.on(WebSocketShardEvents.SocketError, (error) => end(createConnectionError(error.message)));
  manager.on(WebSocketShardEvents.Dispatch, (event) => {
    if (!isOver) dispatch(event);
  });
  const reached = manager.fetchGatewayInformation();
  reached
    .then(({ session_start_limit: limit }) => {
      if (session.current() === null) beforeSession(limit);
      return manager.connect();
    })
    .catch((error: unknown) => end(toChannelError(error, { what: "connecting", isWrite: false })));
  // Prevents an unhandled rejection until the caller awaits `ready`.
  ready.promise.catch(() => {});

  const connection: Connection = {
    lost: lost.promise,
    probe: (signal) => waitForHeartbeat(manager, session, signal),
    close,
  };
  return { reached, ready: ready.promise, connection };
}

/** Called before a new session with Discord's `session_start_limit`. Throws if the session must wait. */
type SessionPace = (limit: { readonly remaining: number; readonly reset_after: number }) => void;

/**
 * Spreads the last sessions of a day over the rest of the day, because Discord resets the token of a bot that exceeds
 * the limit.
 */
function createSessionPace(now: () => number): SessionPace {
  let startedAt = Number.NEGATIVE_INFINITY;
  return ({ remaining, reset_after: resetMs }) => {
    const pauseMs = remaining < limits.scarceSessions ? resetMs / Math.max(remaining, 1) : 0;
    const retryAfterMs = startedAt + pauseMs - now();
    if (retryAfterMs > 0)
      throw new ChannelError("transient", `Discord: only ${remaining} sessions are left today`, {
        scope: "account",
        retryAfterMs,
      });
    startedAt = now();
  };
}

/**
 * Creates a discord.js client for one connection.
 *
 * @param isOver once it returns true, the client no longer reads or writes the session
 */
function createManager(
  { context, api, session }: Pick<GatewayOptions, "context" | "api" | "session">,
  isOver: () => boolean,
): WebSocketManager {
  const { WebSocketManager } = loadGateway();
  return new WebSocketManager({
    token: context.config.token,
    intents: getIntents(context.config),
    rest: api.rest(),
    shardCount: 1,
    handshakeTimeout: limits.connectMs,
    helloTimeout: limits.connectMs,
    readyTimeout: limits.connectMs,
    // The client reads the session before it reconnects, which it must not do. A pending promise stops it.
    retrieveSessionInfo: () => (isOver() ? new Promise<never>(() => {}) : session.current()),
    async updateSessionInfo(_, info) {
      if (isOver()) return;
      try {
        if (info === null) await session.forget();
        else if (info.sessionId !== session.current()?.sessionId) await session.begin(info);
      } catch (error) {
        // An exception here would end the process. The session is in memory and will be stored together with its next
        // sequence.
        context.logger.warn("failed to store the session", { reason: reasonOf(error) });
      }
    },
  });
}

function getIntents({ messageContent }: DiscordConfig): number {
  const { guilds, guildMessages, guildReactions, directMessages, directReactions } = intents;
  const always = guilds | guildMessages | guildReactions | directMessages | directReactions;
  return messageContent ? always | intents.messageContent : always;
}

/** Resolves when Discord has acknowledged a heartbeat. */
async function waitForHeartbeat(
  manager: WebSocketManager,
  session: Session,
  signal: AbortSignal,
): Promise<void> {
  const { WebSocketShardEvents } = loadGateway();
  const { promise, resolve } = Promise.withResolvers<void>();
  const answered = (): void => resolve();
  manager.on(WebSocketShardEvents.HeartbeatComplete, answered);
  try {
    await manager.send(0, { op: HEARTBEAT_OPCODE, d: session.current()?.sequence ?? null });
    signal.addEventListener("abort", answered, { once: true });
    await promise;
  } finally {
    manager.off(WebSocketShardEvents.HeartbeatComplete, answered);
    signal.removeEventListener("abort", answered);
  }
}
