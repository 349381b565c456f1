import type { HttpInstance, HttpRequestOptions, Logger } from "@larksuiteoapi/node-sdk";
import {
  type ChannelContext,
  ChannelError,
  type Connection,
  type HandleResult,
  isPayload,
  type SupervisedConnection,
  superviseConnection,
} from "@signalbox/channel";
import { apiBase, type FeishuConfig } from "../config.ts";
import { callSignal, createHttp, type FeishuHttp, FeishuHttpError } from "../http.ts";
import { type EventEnvelope, readEnvelope } from "../inbound/envelope.ts";
import { limits } from "../limits.ts";

/**
 * For the SDK's own log lines: they go to standard output and carry credentials, and what matters of them comes as an
 * error. Its log level cannot silence it: `fatal` is 0, which it takes for none given.
 */
const silent: Logger = {
  error: () => {},
  warn: () => {},
  info: () => {},
  debug: () => {},
  trace: () => {},
};

interface LongConnectionOptions {
  readonly context: ChannelContext<FeishuConfig>;
  handle(event: EventEnvelope): Promise<HandleResult>;
  /** Called before each connection. */
  connecting(): void;
  /** The connection stands again; what came since may have been missed. */
  reconnected(lostAt: number): Promise<void>;
}

/**
 * A connection from here to Feishu over which events come in. The SDK's client waits half a minute and more before it
 * connects again, and at some point stops without a word; so each of its clients is used for one connection only. It
 * probes its connection itself.
 */
export function createLongConnection(options: LongConnectionOptions): SupervisedConnection {
  const { context, reconnected } = options;
  const { config, clock, logger } = context;

  async function open(signal: AbortSignal): Promise<Connection> {
    const { EventDispatcher, WSClient } = await import("./sdk.ts");
    options.connecting();
    const ready = Promise.withResolvers<void>();
    const lost = Promise.withResolvers<void>();
    const fail = (error: ChannelError): void => {
      ready.reject(error);
      lost.resolve();
    };
    class Dispatcher extends EventDispatcher {
      override async invoke(data: unknown): Promise<undefined> {
        const envelope = isPayload(data) ? readEnvelope(data) : undefined;
        const handled = envelope?.kind === "event" ? await options.handle(envelope) : "malformed";
        if (handled === "malformed") logger.warn("an unreadable event was skipped");
        // The SDK answers with an error then, and Feishu delivers again.
        if (handled === "rejected") throw new Error("not taken");
      }
    }
    const client = new WSClient({
      appId: config.appId,
      appSecret: config.appSecret,
      domain: apiBase(config),
      logger: silent,
      httpInstance: endpointHttp(createHttp(context.fetch, context.clock.now), fail),
      handshakeTimeoutMs: limits.connectMs,
      wsConfig: { pingTimeout: limits.pongSeconds },
      onReady: () => ready.resolve(),
      onReconnecting: () => lost.resolve(),
      onError: (error) => fail(unconnected(error.message)),
    });
    pingOften(client);
    const close = (): void => {
      fail(unconnected("the connection was closed"));
      client.close({ force: true });
    };
    signal.addEventListener("abort", close, { once: true });
    const eventDispatcher = new Dispatcher({ logger: silent });
    // Awaited below; until then a failure must not count as unhandled.
    ready.promise.catch(() => {});
    try {
      await callSignal.run(signal, () => client.start({ eventDispatcher }));
      await ready.promise;
    } catch (error) {
      close();
      throw error;
    } finally {
      signal.removeEventListener("abort", close);
    }
    return { lost: lost.promise, close };
  }

  return superviseConnection({
    name: "Feishu",
    open,
    reconnected,
    clock,
    logger,
  });
}

/**
 * Makes the SDK send a ping every {@link limits.pingMs}, to notice a dead connection. By itself, it sends one as often
 * as Feishu's settings ask for, every two minutes, and has no option for that.
 */
function pingOften(client: object): void {
  const settings: unknown = Reflect.get(client, "wsConfig");
  if (typeof settings !== "object" || settings === null || !("updateWs" in settings)) return;
  const { updateWs } = settings;
  if (typeof updateWs !== "function") return;
  settings.updateWs = (update: { readonly pingInterval?: number }) =>
    updateWs.call(settings, {
      ...update,
      ...(update.pingInterval === undefined
        ? {}
        : { pingInterval: Math.min(update.pingInterval, limits.pingMs) }),
    });
}

function unconnected(reason: string): ChannelError {
  return new ChannelError("transient", `Feishu: ${reason}`, { scope: "account" });
}

/** Codes of the call for a connection's address that mean: not with these credentials, or not for this app. */
const refusals: readonly (number | undefined)[] = [403, 514, 1_000_040_350];

const notAsked = (): Promise<never> =>
  Promise.reject(new Error("a long connection asks for its address alone"));

/** Tells at once why no address of a connection was given: the SDK takes every failure for one that passes. */
function endpointHttp(http: FeishuHttp, fail: (error: ChannelError) => void): HttpInstance {
  return {
    get: notAsked,
    delete: notAsked,
    head: notAsked,
    options: notAsked,
    post: notAsked,
    put: notAsked,
    patch: notAsked,
    async request<T, R = T, D = unknown>(options: HttpRequestOptions<D>): Promise<R> {
      try {
        return await http.request<R>(options);
      } catch (error) {
        const code = error instanceof FeishuHttpError ? error.code : undefined;
        const reason = error instanceof Error ? error.message : "failed";
        fail(
          new ChannelError(
            refusals.includes(code) ? "auth" : "transient",
            `Feishu: no long connection: ${reason}`,
            { scope: "account", platformCode: code?.toString() },
          ),
        );
        throw error;
      }
    },
  };
}
