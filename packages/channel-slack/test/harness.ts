import { createServer } from "node:http";
import {
  type ChannelContext,
  type ChannelLogger,
  type Clock,
  createMemoryCache,
  createMemoryState,
  type EmitResult,
  type InboundEvent,
  systemClock,
} from "@signalbox/channel";
import { type SlackOptions, type SlackStandIn, startSlack } from "@signalbox/testkit/slack";
import { type SlackConfig, slack } from "../src/index.ts";

export const credentials = {
  botToken: "xoxb-token-of-the-bot",
  appToken: "xapp-token-of-the-app",
  signingSecret: "secret-of-the-app",
};

type Running = Awaited<ReturnType<typeof slack.create>>;

/** A channel against a stand-in, with what it emitted. */
export interface Bench extends AsyncDisposable {
  readonly standIn: SlackStandIn;
  readonly channel: Running;
  readonly events: InboundEvent[];
  readonly logged: string[];
  /** What `emit` answers; by default it remembers event ids as the gateway does. */
  answer: ((event: InboundEvent) => Promise<EmitResult>) | undefined;
  /** Where Slack would post events. */
  readonly url: string;
}

export interface BenchOptions {
  readonly standIn?: Partial<SlackOptions>;
  readonly context?: Partial<ChannelContext<SlackConfig>>;
  /** Default true. */
  readonly start?: boolean;
}

export async function openBench(
  config: Partial<SlackConfig> = { transport: "webhook" },
  options: BenchOptions = {},
): Promise<Bench> {
  const standIn = await startSlack({ ...credentials, users: { U_ANN: { name: "Ann" } }, ...options.standIn });
  const checked = await slack.config["~standard"].validate({
    ...credentials,
    baseUrl: standIn.apiUrl,
    ...config,
  });
  if (checked.issues !== undefined) throw new Error(checked.issues.map((issue) => issue.message).join("\n"));
  const events: InboundEvent[] = [];
  const logged: string[] = [];
  const seen = new Set<string>();
  const log = (message: string, fields?: unknown) =>
    void logged.push(`${message} ${JSON.stringify(fields ?? {})}`);
  const logger: ChannelLogger = { debug: log, info: log, warn: log, error: log };
  const lifetime = new AbortController();
  const context: ChannelContext<SlackConfig> = {
    config: checked.value,
    account: "main",
    logger,
    fetch: globalThis.fetch,
    clock: systemClock,
    cache: createMemoryCache({ clock: systemClock }),
    state: createMemoryState(),
    signal: lifetime.signal,
    async emit(event) {
      if (bench.answer !== undefined) return bench.answer(event);
      if (seen.has(event.eventId)) return "duplicate";
      seen.add(event.eventId);
      events.push(event);
      return "accepted";
    },
    ...options.context,
  };
  const channel = await slack.create(context);
  const gateway = await serve(channel);
  const bench: Bench = {
    standIn,
    channel,
    events,
    logged,
    answer: undefined,
    url: gateway.url,
    async [Symbol.asyncDispose]() {
      lifetime.abort();
      await channel.stop({ drainMs: 0 });
      await gateway.stop();
      await standIn.stop();
    },
  };
  try {
    if (options.start !== false) await channel.start(lifetime.signal);
  } catch (error) {
    await bench[Symbol.asyncDispose]();
    throw error;
  }
  return bench;
}

/** A real HTTP server in front of the channel's webhook. */
async function serve(channel: Running): Promise<{ url: string; stop(): Promise<void> }> {
  const server = createServer((raw, response) => {
    const chunks: Buffer[] = [];
    raw.on("data", (chunk: Buffer) => chunks.push(chunk));
    raw.on("end", async () => {
      const headers = Object.entries(raw.headers).map(([name, value]): [string, string] => [
        name,
        String(value),
      ]);
      const request = new Request("http://gateway/events", {
        method: "POST",
        headers,
        body: Buffer.concat(chunks),
      });
      const answer = await channel.webhook?.(request);
      response.writeHead(answer?.status ?? 404, Object.fromEntries(answer?.headers ?? []));
      response.end(Buffer.from((await answer?.arrayBuffer()) ?? new ArrayBuffer(0)));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export const never: AbortSignal = new AbortController().signal;

/** A clock that a test turns; pauses end when it is turned past them. */
export interface TurnedClock extends Clock {
  turn(ms: number): void;
}

export function turnedClock(start = Date.now()): TurnedClock {
  let now = start;
  const waiting = new Set<{ readonly at: number; readonly go: () => void }>();
  return {
    now: () => now,
    delay(ms, signal) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const pause = { at: now + ms, go: resolve };
      waiting.add(pause);
      signal?.addEventListener(
        "abort",
        () => {
          waiting.delete(pause);
          reject(signal.reason);
        },
        { once: true },
      );
      if (signal?.aborted === true) reject(signal.reason);
      return promise;
    },
    turn(ms) {
      now += ms;
      for (const pause of waiting) {
        if (pause.at > now) continue;
        waiting.delete(pause);
        pause.go();
      }
    },
  };
}
