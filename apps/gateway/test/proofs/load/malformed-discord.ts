import { setTimeout as delay } from "node:timers/promises";
import { channelType, type FakeDiscord, startDiscord } from "@signalbox/testkit/discord";
import type { Random } from "../crash/random.ts";
import { MAX_WAIT_MS, type MalformedPlatform, type Pushed } from "./malformed.ts";
import { damaged, type Vocabulary } from "./nonsense.ts";

const BOT = { id: "1000", username: "signalbox" };
const TOKEN = `${Buffer.from(BOT.id).toString("base64")}.made-up.secret`;
const OWNER = "1999";
const GUILD = "7000";
const CHANNEL = "7001";

const words: Vocabulary = {
  names: [
    ...([
      "author",
      "member",
      "roles",
      "guild_id",
      "channel_id",
      "content",
      "mentions",
      "mention_roles",
    ] as const),
    ...(["attachments", "embeds", "message_reference", "referenced_message", "message_snapshots"] as const),
    ...(["timestamp", "edited_timestamp", "webhook_id", "poll", "sticker_items", "emoji", "data"] as const),
    ...(["custom_id", "options", "token", "application_id", "parent_id", "user", "ids"] as const),
  ],
  texts: [
    ...(["<@1000>", "<@", "<@&7100>", "@everyone", "<:a:1>", "2026-01-01T00:00:00Z", "1000"] as const),
    ...(["https://cdn.discordapp.com/attachments/1/2/x", "http://169.254.169.254/", "approve\n{"] as const),
  ],
};

/** An account that is connected, and is told nonsense. */
export async function malformedDiscord(): Promise<MalformedPlatform> {
  const discord = await startDiscord({ token: TOKEN, bot: BOT, keeps: 1_000 });
  discord.addGuild({
    id: GUILD,
    channelId: CHANNEL,
    roles: [{ id: "7100", name: "signalbox", botId: BOT.id }],
  });
  discord.addChannel({ id: "7002", type: channelType.publicThread, guildId: GUILD, parentId: CHANNEL });
  const sound = soundEvents(discord);
  return {
    channel: "discord",
    accounts: { main: { token: TOKEN, apiBaseUrl: discord.url } },
    owner: OWNER,
    nonsense: (random, number) => nonsense(discord, sound, random, number),
    sound: () => {
      const place = discord.directWith(OWNER).id;
      const message = discord.plant({ channelId: place, authorId: OWNER, content: "are you there?" });
      return push(discord, "MESSAGE_CREATE", discord.eventOf(message));
    },
    sent: () => discord.sent.map(({ content }) => content),
    stop: () => discord.stop(),
  };
}

type Fields = Record<string, unknown>;
type SoundEvent = readonly [type: string, data: Fields];

/** One of each kind, to be given new ids and damaged. */
function soundEvents(discord: FakeDiscord): readonly [SoundEvent, ...SoundEvent[]] {
  const file = { id: "8001", name: "a.png", mimeType: "image/png", content: new Uint8Array(4) };
  const plant = (channelId: string, content: string, more: Fields = {}) =>
    discord.eventOf(discord.plant({ channelId, authorId: "2001", content, more }));
  const direct = discord.directWith("2001").id;
  const withFile = discord.eventOf(
    discord.plant({ channelId: direct, authorId: "2001", attachments: [file] }),
  );
  const reference = { type: 0, message_id: "8100", channel_id: CHANNEL };
  const snapshots = [{ message: { content: "forwarded", attachments: [], embeds: [{ title: "a" }] } }];
  const user = { id: "2001", username: "zhangsan" };
  const at = { message_id: "8100", channel_id: CHANNEL, guild_id: GUILD, user_id: "2001" };
  const interaction = {
    application_id: BOT.id,
    token: "interaction-token",
    version: 1,
    channel_id: CHANNEL,
    guild_id: GUILD,
    member: { user, roles: [] },
    channel: { id: CHANNEL, type: 0 },
  };
  return [
    ["MESSAGE_CREATE", plant(direct, "hello")],
    ["MESSAGE_CREATE", plant(CHANNEL, "<@1000> hello <:a:5>")],
    ["MESSAGE_CREATE", plant("7002", "<@&7100> in a thread")],
    ["MESSAGE_CREATE", plant(CHANNEL, "answers", { type: 19, message_reference: reference })],
    ["MESSAGE_CREATE", plant(CHANNEL, "<@1000> quotes", { type: 19, referenced_message: withFile })],
    [
      "MESSAGE_CREATE",
      plant(direct, "", { message_reference: { ...reference, type: 1 }, message_snapshots: snapshots }),
    ],
    ["MESSAGE_CREATE", withFile],
    ["MESSAGE_UPDATE", plant(CHANNEL, "edited", { edited_timestamp: "2026-01-01T00:00:00Z" })],
    [
      "MESSAGE_UPDATE",
      plant(CHANNEL, "<@1000> edited to a mention", { edited_timestamp: "2026-01-01T00:00:00Z" }),
    ],
    ["MESSAGE_DELETE", { id: "8100", channel_id: CHANNEL, guild_id: GUILD }],
    ["MESSAGE_REACTION_ADD", { ...at, emoji: { id: null, name: "👍" } }],
    ["INTERACTION_CREATE", { ...interaction, type: 2, data: { name: "status", options: [] } }],
    ["INTERACTION_CREATE", { ...interaction, type: 3, data: { custom_id: 'approve\n{"id":"A1"}' } }],
    ["GUILD_CREATE", { id: GUILD, name: "Guild", channels: [], roles: [], members: [] }],
    ["THREAD_CREATE", { id: "7002", type: 11, guild_id: GUILD, parent_id: CHANNEL, name: "aside" }],
  ];
}

function nonsense(
  discord: FakeDiscord,
  sound: readonly [SoundEvent, ...SoundEvent[]],
  random: Random,
  number: number,
): Pushed {
  const [type, data] = random.pick(sound);
  const ids = { id: String(9_000_000 + number) };
  const changed = Object.fromEntries(Object.entries(damaged(random, { ...data, ...ids }, words) ?? {}));
  return push(discord, random.chance(0.95) ? type : `X_${type}`, changed);
}

/** Taken or left out, Discord is told so; anything else looks like a broken server. */
function push(discord: FakeDiscord, type: string, data: Fields): Pushed {
  return {
    body: JSON.stringify([type, data]),
    async deliver() {
      const sequence = discord.gateway.dispatch(type, data);
      if (sequence === undefined) return 200;
      const waiting = new AbortController();
      const late = delay(MAX_WAIT_MS, 504, { signal: waiting.signal }).catch(() => 504);
      const taken = discord.acknowledged(sequence).then((isTaken) => (isTaken ? 200 : 503));
      return await Promise.race([taken, late]).finally(() => waiting.abort());
    },
  };
}
