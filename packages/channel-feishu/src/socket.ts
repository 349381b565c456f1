import type { HttpInstance, HttpRequestOptions } from "@larksuiteoapi/node-sdk";
import { type ChannelContext, ChannelError, type Health } from "@signalbox/channel";
import { quiet } from "./api.ts";
import { apiBase, type FeishuConfig } from "./config.ts";
import type { Envelope } from "./envelope.ts";
import { readEnvelope } from "./envelope.ts";
import { callSignal, createHttp, FeishuHttpError } from "./http.ts";
import { limits } from "./limits.ts";
import { isRaw } from "./raw.ts";
import { loadSdk } from "./sdk.ts";
import type { Handled } from "./webhook.ts";

/** A connection from here to Feishu over which events come in. */
export interface Socket {
  /** Resolves when it stands. @throws ChannelError when the first try fails */
  start(signal: AbortSignal): Promise<void>;
  stop(): void;
  health(): Health;
}

type EventEnvelope = Extract<Envelope, { kind: "event" }>;

interface SocketNeeds {
  readonly context: ChannelContext<FeishuConfig>;
  handle(event: EventEnvelope): Promise<Handled>;
  /** The connection stands again; events from then on may have been missed. */
  caughtUp(since: number): Promise<void>;
}

/** One connection, from its first try to its end. */
interface Attempt {
  readonly ready: Promise<void>;
  /** Resolves once it is lost. */
  readonly lost: Promise<void>;
  close(): void;
}

/**
 * Keeps a long connection. The SDK's client waits half a minute and more before it connects again, and at some point
 * stops without a word; so each of its clients is used for one connection only, and what comes after is decided here.
 */
export function createSocket({ context, handle, caughtUp }: SocketNeeds): Socket {
  const { config, clock, logger } = context;
  const life = new AbortController();
  const ended = AbortSignal.any([life.signal, context.signal]);
  let health: Health = { state: "starting" };

  async function connect(): Promise<Attempt> {
    const lark = loadSdk();
    const ready = Promise.withResolvers<void>();
    const lost = Promise.withResolvers<void>();
    // Whoever waits for one of the two need not wait for the other.
    ready.promise.catch(() => {});
    const fail = (error: ChannelError) => {
      ready.reject(error);
      lost.resolve();
    };
    class Dispatcher extends lark.EventDispatcher {
      override async invoke(data: unknown): Promise<undefined> {
        const envelope = isRaw(data) ? readEnvelope(data) : undefined;
        const handled = envelope?.kind === "event" ? await handle(envelope) : "malformed";
        if (handled === "malformed") logger.warn("an event that cannot be read was left out");
        // The SDK answers with an error then, and Feishu delivers again.
        if (handled === "rejected") throw new Error("not taken");
      }
    }
    const client = new lark.WSClient({
      appId: config.appId,
      appSecret: config.appSecret,
      domain: apiBase(config),
      logger: quiet,
      loggerLevel: lark.LoggerLevel.fatal,
      httpInstance: endpointHttp(createHttp(context.fetch), fail),
      handshakeTimeoutMs: limits.connectMs,
      wsConfig: { pingTimeout: limits.pongSeconds },
      onReady: () => ready.resolve(),
      onReconnecting: () => lost.resolve(),
      onError: (error) =>
        fail(new ChannelError("transient", `Feishu: ${error.message}`, { scope: "account" })),
    });
    const eventDispatcher = new Dispatcher({ logger: quiet, loggerLevel: lark.LoggerLevel.fatal });
    await callSignal.run(ended, () => client.start({ eventDispatcher }));
    const close = () => {
      fail(new ChannelError("transient", "Feishu: the connection was closed", { scope: "account" }));
      client.close({ force: true });
    };
    return { ready: ready.promise, lost: lost.promise, close };
  }

  /** A standing connection, or an error; in time. */
  async function open(signal: AbortSignal): Promise<Attempt> {
    const attempt = await connect();
    const limit = AbortSignal.any([signal, ended, AbortSignal.timeout(limits.connectMs)]);
    const giveUp = () => attempt.close();
    if (limit.aborted) giveUp();
    limit.addEventListener("abort", giveUp, { once: true });
    try {
      await attempt.ready;
      return attempt;
    } catch (error) {
      attempt.close();
      throw error;
    } finally {
      limit.removeEventListener("abort", giveUp);
    }
  }

  async function keep(first: Attempt): Promise<void> {
    let attempt = first;
    while (!ended.aborted) {
      const stop = () => attempt.close();
      ended.addEventListener("abort", stop, { once: true });
      await attempt.lost;
      ended.removeEventListener("abort", stop);
      attempt.close();
      const since = clock.now();
      const next = ended.aborted ? undefined : await reopen();
      if (next === undefined) return;
      attempt = next;
      health = { state: "ready" };
      logger.info("connected again", { afterMs: clock.now() - since });
      // What was on its way when the connection broke counts as missed too.
      await caughtUp(since - limits.connectMs).catch((error: unknown) => {
        const reason = error instanceof Error ? error.message : String(error);
        logger.warn("what was missed could not be read; Feishu delivers it again by itself", { reason });
      });
    }
  }

  async function reopen(): Promise<Attempt | undefined> {
    for (let tries = 0; !ended.aborted; tries += 1) {
      let wait =
        Math.min(limits.reconnectMs * 2 ** tries, limits.reconnectMostMs) * (0.5 + Math.random() / 2);
      try {
        if (tries > 0) return await open(ended);
      } catch (error) {
        const refused = error instanceof ChannelError && error.code === "auth";
        if (refused) wait = limits.refusedMs;
        logger.warn("no connection", {
          reason: error instanceof Error ? error.message : String(error),
          waitMs: wait,
        });
      }
      health = { state: "down", reason: "no connection to Feishu", retryAt: clock.now() + wait };
      await clock.delay(wait, ended).catch(() => undefined);
    }
    return undefined;
  }

  return {
    async start(signal) {
      const attempt = await open(signal);
      health = { state: "ready" };
      void keep(attempt);
    },
    stop() {
      life.abort();
      health = { state: "stopped" };
    },
    health: () => health,
  };
}

/** Tells at once why no address of a connection was given: the SDK takes every failure for one that passes. */
function endpointHttp(http: HttpInstance, fail: (error: ChannelError) => void): HttpInstance {
  return {
    ...http,
    async request<T, R = T, D = unknown>(options: HttpRequestOptions<D>): Promise<R> {
      try {
        return await http.request<T, R, D>(options);
      } catch (error) {
        const code = error instanceof FeishuHttpError ? error.code : undefined;
        const refused = code === 403 || code === 514 || code === 1_000_040_350;
        const reason = error instanceof Error ? error.message : "failed";
        const kind = refused ? "auth" : "transient";
        fail(
          new ChannelError(kind, `Feishu: no long connection: ${reason}`, {
            scope: "account",
            ...(code === undefined ? {} : { platformCode: String(code) }),
          }),
        );
        throw error;
      }
    },
  };
}
