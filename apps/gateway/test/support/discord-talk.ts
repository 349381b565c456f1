import { channelType, type DiscordMessage, type FakeDiscord, startDiscord } from "@signalbox/testkit/discord";
import { onTestFinished } from "vitest";
import {
  eventually,
  exampleConfig,
  openWorld,
  type Started,
  type StartOptions,
  type World,
} from "./harness.ts";

const BOT = { id: "1000", username: "signalbox" };
const DISCORD_TOKEN = `${Buffer.from(BOT.id).toString("base64")}.made-up.secret`;
/** Who writes, and the server's places. */
export const PERSON = "2001";
export const OTHER_BOT = "2002";
export const GUILD = "7000";
export const GENERAL = "7001";
export const THREAD = "7002";

/** A gateway with an account on Discord, and what is there. */
export interface DiscordTalk {
  readonly world: World;
  readonly discord: FakeDiscord;
  readonly started: Started;
  /** Somebody writes, and everything that follows comes to rest. */
  say(
    channelId: string,
    content: string,
    more?: { readonly attachments?: DiscordMessage["attachments"] },
  ): Promise<string>;
  /** The conversation with the person alone. */
  readonly direct: string;
}

interface TalkOptions {
  /** Replaces whole parts of the configuration. */
  readonly config?: Readonly<Record<string, unknown>>;
  readonly start?: StartOptions;
}

export async function openDiscord({ config = {}, start = {} }: TalkOptions = {}): Promise<DiscordTalk> {
  const world = await openWorld();
  const discord = await startDiscord({
    token: DISCORD_TOKEN,
    bot: BOT,
    users: {
      [PERSON]: { username: "zhangsan", global_name: "张三" },
      [OTHER_BOT]: { username: "other", bot: true },
    },
  });
  onTestFinished(() => discord.stop());
  discord.addGuild({ id: GUILD, channelId: GENERAL, members: { [PERSON]: ["7101"] } });
  discord.addChannel({
    id: THREAD,
    type: channelType.publicThread,
    guildId: GUILD,
    parentId: GENERAL,
    name: "aside",
  });
  const account = { token: DISCORD_TOKEN, apiBaseUrl: discord.url };
  world.configure(
    exampleConfig({
      channels: { discord: { accounts: { main: account } } },
      access: {
        dm: "open",
        owners: [`discord:${PERSON}`],
        groups: { mode: "allowlist", allow: [`discord:${GENERAL}`] },
      },
      ...config,
    }),
  );
  const started = await world.start(start);
  return {
    world,
    discord,
    started,
    direct: discord.directWith(PERSON).id,
    async say(channelId, content, more = {}) {
      const { message, sequence } = discord.say({ channelId, authorId: PERSON, content, ...more });
      if (sequence !== undefined)
        await eventually(() => discord.acknowledged(sequence), "the message is taken");
      await started.settled();
      return message.id;
    },
  };
}

/** What stands in a channel of the bot's, in order. */
export function answersIn(discord: FakeDiscord, channelId: string): readonly DiscordMessage[] {
  return discord.sent.filter((one) => one.channelId === channelId && !one.deleted);
}

export function textsIn(discord: FakeDiscord, channelId: string): string[] {
  return answersIn(discord, channelId).map(({ content }) => content);
}
