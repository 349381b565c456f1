import {
  type ChannelContext,
  type ChannelLogger,
  createMemoryCache,
  createMemoryState,
  type EmitResult,
  type InboundEvent,
  systemClock,
} from "@signalbox/channel";
import { startTelegram, type TelegramOptions, type TelegramStandIn } from "@signalbox/testkit/telegram";
import { type TelegramConfig, telegram } from "../src/index.ts";

export const token = "42:secret-of-the-bot-0123456789";
export const webhookSecret = "secret-of-the-webhook";

type Running = Awaited<ReturnType<typeof telegram.create>>;

/** A channel against a stand-in, with what it emitted. */
export interface Bench extends AsyncDisposable {
  readonly standIn: TelegramStandIn;
  readonly channel: Running;
  readonly events: InboundEvent[];
  readonly logged: string[];
  /** What `emit` answers; by default it remembers event ids as the gateway does. */
  answer: ((event: InboundEvent) => Promise<EmitResult>) | undefined;
}

export async function openBench(
  config: Partial<TelegramConfig> = {},
  options: Partial<TelegramOptions> & {
    readonly context?: Partial<ChannelContext<TelegramConfig>>;
    /** An earlier one that goes on running. */
    readonly standIn?: TelegramStandIn;
  } = {},
): Promise<Bench> {
  const standIn = options.standIn ?? (await startTelegram({ token, ...options }));
  const checked = await telegram.config["~standard"].validate({
    botToken: token,
    apiBaseUrl: standIn.url,
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
  const channel = await telegram.create({
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
  });
  const bench: Bench = {
    standIn,
    channel,
    events,
    logged,
    answer: undefined,
    async [Symbol.asyncDispose]() {
      lifetime.abort();
      await channel.stop({ drainMs: 0 });
      if (options.standIn === undefined) await standIn.stop();
    },
  };
  await channel.start(lifetime.signal);
  return bench;
}

export const never: AbortSignal = new AbortController().signal;
