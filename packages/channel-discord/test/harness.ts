import type { ChannelContext } from "@signalbox/channel";
import { openChannel, type RunningChannel } from "@signalbox/channel/testkit";
import { channelType, type DiscordOptions, type FakeDiscord, startDiscord } from "@signalbox/testkit/discord";
import { expect } from "vitest";
import { type DiscordAddress, type DiscordConfig, discord } from "../src/index.ts";

export const bot = { id: "1000", username: "signalbox" };
export const token = `${Buffer.from(bot.id).toString("base64")}.made-up.secret-of-the-bot`;
export const guildId = "7000";
export const channelId = "7001";
export const threadId = "7002";
export const zhang = "2001";
export const otherBot = "2002";

/** A fake Discord with one server, whose members are a person and another bot. */
export async function openFakeServer(options: Partial<DiscordOptions> = {}): Promise<FakeDiscord> {
  const fakeServer = await startDiscord({
    token,
    bot,
    users: {
      [zhang]: { username: "zhangsan", global_name: "张三" },
      [otherBot]: { username: "other", bot: true },
    },
    ...options,
  });
  fakeServer.addGuild({
    id: guildId,
    channelId,
    roles: [
      { id: "7100", name: "signalbox", botId: bot.id },
      { id: "7101", name: "developers" },
    ],
    members: { [zhang]: ["7101"] },
  });
  fakeServer.addChannel({
    id: threadId,
    type: channelType.publicThread,
    guildId,
    parentId: channelId,
    name: "aside",
  });
  fakeServer.addChannel({ id: "7500", type: channelType.forum, guildId, name: "questions" });
  fakeServer.addChannel({
    id: "7003",
    type: channelType.publicThread,
    guildId,
    parentId: "7500",
    name: "How?",
  });
  return fakeServer;
}

/** A running channel and its fake server. */
export interface Bench extends RunningChannel<DiscordAddress> {
  readonly fakeServer: FakeDiscord;
}

interface BenchOptions {
  readonly config?: Partial<DiscordConfig>;
  readonly discord?: Partial<DiscordOptions>;
  readonly context?: Partial<ChannelContext<DiscordConfig>>;
  /** Fake server of an earlier bench, for a second process of the same bot. Its creator stops it. */
  readonly fakeServer?: FakeDiscord;
  /** Default true. */
  readonly start?: boolean;
}

export async function openBench(options: BenchOptions = {}): Promise<Bench> {
  const { context = {}, start = true } = options;
  const fakeServer = options.fakeServer ?? (await openFakeServer(options.discord));
  const settings = { token, apiBaseUrl: fakeServer.url, ...options.config };
  const running = await openChannel(discord, settings, {
    context,
    start,
    drainMs: 1_000,
    close: async () => {
      if (options.fakeServer === undefined) await fakeServer.stop();
    },
  });
  return Object.assign(running, { fakeServer });
}

export { never } from "@signalbox/channel/testkit";

export async function until(holds: () => boolean): Promise<void> {
  await expect.poll(holds, { interval: 10 }).toBe(true);
}
