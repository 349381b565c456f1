import type { RecordedPayload } from "@signalbox/channel/testkit";

type Json = RecordedPayload["payload"];
type Fields = Readonly<Record<string, Json>>;

export const ids = {
  bot: "1000",
  botRole: "7100",
  person: "2001",
  guild: "7000",
  channel: "7001",
  thread: "7002",
  post: "7003",
  forum: "7500",
  direct: "9001",
} as const;

export const at = "2026-01-01T00:00:00.123000+00:00";
export const millis = Date.parse(at);

export const person = {
  id: ids.person,
  username: "zhangsan",
  global_name: "张三",
  avatar: null,
  discriminator: "0",
  public_flags: 0,
  flags: 0,
  primary_guild: null,
};
export const bot = { ...person, id: ids.bot, username: "signalbox", global_name: null, bot: true };

/** A message as the API returns it: `MessageResponse` of the OpenAPI document. */
export function message(id: string, fields: Fields = {}): Record<string, Json> {
  return {
    type: 0,
    content: "hello",
    mentions: [],
    mention_roles: [],
    attachments: [],
    embeds: [],
    timestamp: at,
    edited_timestamp: null,
    flags: 0,
    components: [],
    id,
    channel_id: ids.direct,
    author: person,
    pinned: false,
    mention_everyone: false,
    tts: false,
    ...fields,
  };
}

export const inGuild = {
  channel_id: ids.channel,
  guild_id: ids.guild,
  member: { roles: ["7101"], nick: null, joined_at: at, deaf: false, mute: false, flags: 0 },
};

export function gatewayEvent(
  name: string,
  t: string,
  d: Fields,
  ...events: RecordedPayload["events"]
): RecordedPayload {
  return { name, payload: { t, d }, events };
}

export function said(
  name: string,
  d: Record<string, Json>,
  expected: Readonly<Record<string, unknown>>,
): RecordedPayload {
  return gatewayEvent(name, "MESSAGE_CREATE", d, {
    type: "message",
    eventId: `message:${d["id"]}`,
    messageId: d["id"],
    timestamp: millis,
    sender: { id: ids.person, isBot: false, isSelf: false },
    ...expected,
  });
}

export const attachment = {
  id: "8001",
  filename: "chart.png",
  content_type: "image/png",
  size: 1234,
  url: "https://cdn.discordapp.com/attachments/9001/8001/chart.png?ex=7fffffff&is=1&hm=0",
  proxy_url: "https://media.discordapp.net/attachments/9001/8001/chart.png",
};
export const voice = {
  ...attachment,
  id: "8002",
  filename: "voice-message.ogg",
  content_type: "audio/ogg",
  duration_secs: 1.5,
  waveform: "AAA=",
};

export const answer = message("501", { ...inGuild, author: bot, content: "Paris." });
const channel = { id: ids.channel, type: 0, name: "general", guild_id: ids.guild };
export const interaction = {
  id: "1456207564800000000",
  application_id: ids.bot,
  token: "interaction-token",
  version: 1,
  guild_id: ids.guild,
  channel_id: ids.channel,
  channel,
  member: { ...inGuild.member, user: person },
};
