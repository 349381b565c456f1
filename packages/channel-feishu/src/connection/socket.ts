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
import { CREDENTIALS } from "../errors.ts";
import { callSignal, createHttp, type FeishuHttp, FeishuHttpError } from "../http.ts";
import { type EventEnvelope, readEnvelope } from "../inbound/envelope.ts";
import { limits } from "../limits.ts";

/**
 * Silences the SDK's log, which is written to standard output and contains credentials. Its `logLevel` option cannot do
 * that, because `fatal` is 0 and the SDK treats 0 as unset.
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
  /** Called after a reconnection. Events since `lostAt` may have been missed. */
  reconnected(lostAt: number): Promise<void>;
}

/**
 * Opens a connection to Feishu that receives events. The SDK's client waits at least half a minute before it
 * reconnects, and eventually stops silently, so each client is used for only one connection.
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
        // Makes the SDK respond with an error, so that Feishu redelivers the event.
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
    // Prevents an unhandled rejection until the promise is awaited below.
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
 * Makes the SDK send a ping every {@link limits.pingMs}, to detect a dead connection. By default, it uses the interval
 * from Feishu's settings, two minutes, and has no option to change it.
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

/** Error codes of the endpoint request that refuse the app, with the settings that can be wrong. Source: the SDK. */
const refusals: ReadonlyMap<number | undefined, readonly string[]> = new Map([
  // The app may not use long connections.
  [403, ["transport"]],
  // The credentials are invalid.
  [514, CREDENTIALS],
  // The app has too many connections.
  [1_000_040_350, []],
]);

const notAsked = (): Promise<never> =>
  Promise.reject(new Error("a long connection asks for its address alone"));

/** Immediately reports why the endpoint request failed. The SDK treats every failure as temporary. */
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
        const settings = refusals.get(code);
        fail(
          new ChannelError(
            settings === undefined ? "transient" : "auth",
            `Feishu: no long connection: ${reason}`,
            {
              scope: "account",
              platformCode: code?.toString(),
              settings,
            },
          ),
        );
        throw error;
      }
    },
  };
}
