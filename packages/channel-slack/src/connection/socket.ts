import { type ChannelContext, type Connection, parsePayload, reasonOf } from "@signalbox/channel";
import { createFetch, quietLogger } from "../api.ts";
import { apiBase, type SlackConfig } from "../config.ts";
import { toChannelError } from "../errors.ts";
import { type Envelope, readFrame } from "../inbound/envelope.ts";
import { limits } from "../limits.ts";
import { loadBolt } from "../sdk.ts";

/** How a socket came to its end: Slack said so before, or not. */
type End = "announced" | "lost";

interface Socket extends Connection {
  readonly lost: Promise<End>;
}

/** A frame of socket mode, as the SDK hands it on. */
interface Frame {
  readonly type: string;
  readonly body: unknown;
  ack(): Promise<void>;
}

/**
 * One connection of socket mode. The SDK's client is used for one connection only: it waits long before it connects
 * again, and at some errors never does. It probes its connection itself.
 *
 * @throws ChannelError
 */
export async function openSocket(
  context: Pick<ChannelContext<SlackConfig>, "config" | "clock" | "fetch" | "logger">,
  take: (envelope: Envelope) => Promise<boolean>,
  signal: AbortSignal,
): Promise<Socket> {
  const { logger } = context;
  const client = clientOf(context, signal);
  const ended = Promise.withResolvers<End>();
  let end: End = "lost";

  async function onFrame({ type, body, ack }: Frame): Promise<void> {
    const envelope = readFrame(type, body);
    if (envelope === undefined) logger.warn("an unreadable frame was skipped");
    // What is not acknowledged comes again.
    if (envelope === undefined || (await take(envelope))) await ack();
  }

  function onMessage(read: (...args: unknown[]) => unknown, data: unknown, isBinary: unknown): void {
    if (typeof data === "string" && parsePayload(data)?.["type"] === "disconnect") end = "announced";
    // The SDK takes every frame for a whole one, and what it throws over another would end the process.
    Promise.resolve(read(data, isBinary)).catch(() => logger.warn("an unreadable frame was skipped"));
  }

  const [read] = client.listeners("ws_message");
  client.removeAllListeners("ws_message");
  if (read !== undefined) client.on("ws_message", (data, isBinary) => onMessage(read, data, isBinary));
  client.on("slack_event", (frame: Frame) => {
    onFrame(frame).catch((error: unknown) => {
      const reason = reasonOf(error);
      logger.error("an event could not be accepted; Slack will redeliver it", { reason });
    });
  });
  client.on("close", () => ended.resolve(end));
  const close = (): void => {
    ended.resolve(end);
    client.disconnect().catch(() => {});
  };
  signal.addEventListener("abort", close, { once: true });
  try {
    await client.start();
  } catch (error) {
    throw toChannelError(error ?? new Error("closed before it stood"), "opening a socket", false);
  } finally {
    signal.removeEventListener("abort", close);
  }
  return {
    lost: ended.promise,
    close,
    async probe() {
      if (client.websocket?.isActive() !== true) throw new Error("the socket does not answer");
    },
  };
}

function clientOf(
  { config, ...context }: Pick<ChannelContext<SlackConfig>, "config" | "clock" | "fetch">,
  signal: AbortSignal,
) {
  const { SocketModeReceiver, LogLevel } = loadBolt();
  const call = { signal, asked: "" };
  return new SocketModeReceiver({
    appToken: config.appToken ?? "",
    autoReconnectEnabled: false,
    clientPingTimeout: limits.pongMs,
    serverPingTimeout: limits.serverPingMs,
    logger: quietLogger(LogLevel.ERROR),
    installerOptions: {
      clientOptions: {
        slackApiUrl: apiBase(config),
        fetch: createFetch(context, () => call),
        retryConfig: { retries: 0 },
        rejectRateLimitedCalls: true,
      },
    },
  }).client;
}
