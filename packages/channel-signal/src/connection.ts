import {
  type Activity,
  type ChannelContext,
  ChannelError,
  type Connection,
  type Deadline,
  deadline,
  type SupervisedConnection,
  superviseConnection,
} from "@signalbox/channel";
import type { SignalConfig } from "./config.ts";
import { EventStreamParser, type StreamEvent } from "./inbound/event-stream.ts";
import type { Receiver } from "./inbound/receive.ts";
import { limits } from "./limits.ts";
import type { SignalCli } from "./rpc.ts";

interface Services {
  readonly cli: SignalCli;
  readonly receiver: Receiver;
  readonly activity: Pick<Activity, "count">;
}

/**
 * Keeps the stream of received messages open. A stream that sends nothing for 45 seconds, not even a keep-alive, is
 * replaced. The next message is read only after the previous one was accepted, so a gateway that cannot store messages
 * makes signal-cli wait.
 */
export function createConnection(
  { clock, logger }: Pick<ChannelContext<SignalConfig>, "clock" | "logger">,
  { cli, receiver, activity }: Services,
): SupervisedConnection {
  /** Time of the last data, and of the last data of the previous stream, in milliseconds since the epoch. */
  let aliveAt = clock.now();
  let lostAt = aliveAt;

  async function read(body: ReadableStream<Uint8Array>, silence: Deadline): Promise<void> {
    const parser = new EventStreamParser();
    for await (const chunk of body) {
      aliveAt = clock.now();
      silence.pause();
      await activity.count(receiveAll(parser.push(chunk)));
      silence.restart();
    }
  }

  async function receiveAll(events: readonly StreamEvent[]): Promise<void> {
    for (const event of events) await receiver.receive(event);
  }

  async function open(signal: AbortSignal): Promise<Connection> {
    const life = new AbortController();
    const close = (): void => life.abort();
    const silence = deadline(limits.silenceMs, life.signal);
    signal.addEventListener("abort", close, { once: true });
    try {
      const { body, headers } = await cli.events(receiver.lastEventId, silence.signal);
      if (body === null || headers.get("content-type")?.startsWith("text/event-stream") !== true)
        throw new ChannelError("invalid", "Signal: baseUrl is not the HTTP interface of signal-cli", {
          scope: "account",
        });
      aliveAt = clock.now();
      const lost = read(body, silence).finally(() => {
        lostAt = aliveAt;
        silence.end();
      });
      return { lost, close };
    } catch (error) {
      close();
      throw error;
    } finally {
      signal.removeEventListener("abort", close);
    }
  }

  return superviseConnection({
    name: "Signal",
    clock,
    logger,
    timing: { attemptMs: limits.connectMs },
    open,
    reconnected: async () => receiver.reportGap({ from: lostAt, to: clock.now() }),
  });
}
