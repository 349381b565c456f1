import { type ChannelContext, type Connection, parsePayload, reasonOf } from "@signalbox/channel";
import { createFetch, quietLogger } from "../api.ts";
import { apiBase, type SlackConfig } from "../config.ts";
import { toChannelError } from "../errors.ts";
import { type Envelope, readFrame } from "../inbound/envelope.ts";
import { limits } from "../limits.ts";
import { loadBolt } from "../sdk.ts";

/** Reason for the end of a socket: closed by Slack with an announcement, or lost. */
type End = "announced" | "lost";

interface Socket extends Connection {
  readonly lost: Promise<End>;
}

/** A socket mode frame as emitted by the SDK. */
interface Frame {
  readonly type: string;
  readonly body: unknown;
  ack(): Promise<void>;
}

/**
 * Opens one socket mode connection. The SDK's client is used for only one connection, because it reconnects slowly and,
 * after some errors, never. The client itself responds to Slack's pings and sends its own.
 *
 * @throws ChannelError
 */
export async function openSocket(
  context: Pick<ChannelContext<SlackConfig>, "config" | "clock" | "fetch" | "logger">,
  take: (envelope: Envelope) => Promise<boolean>,
  signal: AbortSignal,
): Promise<Socket> {
  const { logger } = context;
  const client = createClient(context, signal);
  const ended = Promise.withResolvers<End>();
  let end: End = "lost";

  async function onFrame({ type, body, ack }: Frame): Promise<void> {
    const envelope = readFrame(type, body);
    if (envelope === undefined) logger.warn("skipped an unreadable frame");
    // Slack redelivers unacknowledged events.
    if (envelope === undefined || (await take(envelope))) await ack();
  }

  function onMessage(read: (...args: unknown[]) => unknown, data: unknown, isBinary: unknown): void {
    if (typeof data === "string" && parsePayload(data)?.["type"] === "disconnect") end = "announced";
    // The SDK cannot handle incomplete frames. An exception in its handler would end the process.
    Promise.resolve(read(data, isBinary)).catch(() => logger.warn("skipped an unreadable frame"));
  }

  const [read] = client.listeners("ws_message");
  client.removeAllListeners("ws_message");
  if (read !== undefined) client.on("ws_message", (data, isBinary) => onMessage(read, data, isBinary));
  client.on("slack_event", (frame: Frame) => {
    onFrame(frame).catch((error: unknown) => {
      const reason = reasonOf(error);
      logger.error("failed to accept an event; Slack will redeliver it", { reason });
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
    throw toChannelError(
      error ?? new Error("closed before it was established"),
      "opening a socket",
      false,
      "appToken",
    );
  } finally {
    signal.removeEventListener("abort", close);
  }
  return {
    lost: ended.promise,
    close,
    async probe() {
      if (client.websocket?.isActive() !== true) throw new Error("the socket does not respond");
    },
  };
}

function createClient(
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
