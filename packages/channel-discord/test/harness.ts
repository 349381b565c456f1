import {
  type ChannelContext,
  type ChannelLogger,
  createMemoryCache,
  createMemoryState,
  type EmitResult,
  type InboundEvent,
  systemClock,
} from "@signalbox/channel";
import {
  channelType,
  type DiscordOptions,
  type DiscordStandIn,
  startDiscord,
} from "@signalbox/testkit/discord";
import { expect } from "vitest";
import { type DiscordConfig, discord } from "../src/index.ts";

export const bot = { id: "1000", username: "signalbox" };
export const token = `${Buffer.from(bot.id).toString("base64")}.made-up.secret-of-the-bot`;
export const guildId = "7000";
export const channelId = "7001";
export const threadId = "7002";
export const zhang = "2001";
export const otherBot = "2002";

type Running = Awaited<ReturnType<typeof discord.create>>;

/** Discord with one server, whose members are a person and another bot. */
export async function openStandIn(options: Partial<DiscordOptions> = {}): Promise<DiscordStandIn> {
  const standIn = await startDiscord({
    token,
    bot,
    users: {
      [zhang]: { username: "zhangsan", global_name: "张三" },
      [otherBot]: { username: "other", bot: true },
    },
    ...options,
  });
  standIn.addGuild({
    id: guildId,
    channelId,
    roles: [
      { id: "7100", name: "signalbox", botId: bot.id },
      { id: "7101", name: "developers" },
    ],
    members: { [zhang]: ["7101"] },
  });
  standIn.addChannel({
    id: threadId,
    type: channelType.publicThread,
    guildId,
    parentId: channelId,
    name: "aside",
  });
  standIn.addChannel({ id: "7500", type: channelType.forum, guildId, name: "questions" });
  standIn.addChannel({ id: "7003", type: channelType.publicThread, guildId, parentId: "7500", name: "How?" });
  return standIn;
}

/** A channel against a stand-in, with what it emitted. */
export interface Bench extends AsyncDisposable {
  readonly standIn: DiscordStandIn;
  readonly channel: Running;
  readonly events: InboundEvent[];
  readonly logged: string[];
  /** What `emit` answers; by default it remembers event ids as the gateway does. */
  answer: ((event: InboundEvent) => Promise<EmitResult>) | undefined;
}

interface BenchOptions {
  readonly config?: Partial<DiscordConfig>;
  readonly discord?: Partial<DiscordOptions>;
  readonly context?: Partial<ChannelContext<DiscordConfig>>;
  /** Of a bench before, for another process of the bot; whoever made it stops it. */
  readonly standIn?: DiscordStandIn;
  /** Default true. */
  readonly start?: boolean;
}

export async function openBench(options: BenchOptions = {}): Promise<Bench> {
  const standIn = options.standIn ?? (await openStandIn(options.discord));
  const settings = { token, apiBaseUrl: standIn.url, ...options.config };
  const checked = await discord.config["~standard"].validate(settings);
  if (checked.issues !== undefined) throw new Error(checked.issues.map((issue) => issue.message).join("\n"));
  const events: InboundEvent[] = [];
  const logged: string[] = [];
  const seen = new Set<string>();
  const log = (message: string, fields?: unknown) =>
    void logged.push(`${message} ${JSON.stringify(fields ?? {})}`);
  const logger: ChannelLogger = { debug: log, info: log, warn: log, error: log };
  const lifetime = new AbortController();
  const channel = await discord.create({
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
      await channel.stop({ drainMs: 1_000 });
      lifetime.abort();
      if (options.standIn === undefined) await standIn.stop();
    },
  };
  if (options.start !== false) await channel.start(lifetime.signal);
  return bench;
}

export const never: AbortSignal = new AbortController().signal;

export async function until(holds: () => boolean, longestMs = 20_000): Promise<void> {
  await expect.poll(holds, { timeout: longestMs, interval: 10 }).toBe(true);
}
