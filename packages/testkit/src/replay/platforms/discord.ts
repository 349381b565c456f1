import { channelType, type FakeDiscord, startDiscord } from "../../discord/index.ts";
import type { Raw } from "../../raw.ts";
import { type PlatformEvent, platformEvents } from "../scenario.ts";
import type { StartPlatform } from "./platform.ts";

const BOT = { id: "1000", username: "signalbox" };
const TOKEN = `${Buffer.from(BOT.id).toString("base64")}.standin.discord-token`;
const GUILD = "7000";
const SOMEBODY = "2000";
const CHANNEL = "7001";

/** Discord. The account connects to its gateway. All groups in a scenario are channels on one server. */
export const startDiscordPlatform: StartPlatform = async (scenario) => {
  const people = Object.entries(scenario.people["discord"] ?? {});
  const users = Object.fromEntries(
    people.map(([id, name]) => [id, { username: `user${id}`, global_name: name }]),
  );
  const discord = await startDiscord({ token: TOKEN, bot: BOT, users });
  discord.addGuild({ id: GUILD, channelId: CHANNEL });
  for (const event of platformEvents(scenario)) if (event.channel === "discord") addPlace(discord, event);
  return {
    env: { DISCORD_URL: discord.url, DISCORD_TOKEN: TOKEN },
    async post(event) {
      const sent = event.body ?? bodyOf(discord, event);
      const sequence = discord.gateway.dispatch("MESSAGE_CREATE", sent);
      const isTaken = sequence !== undefined && (await discord.acknowledged(sequence));
      return { sent, status: isTaken ? 200 : 503 };
    },
    sent: () =>
      discord.requests
        .filter(({ method, path }) => method === "POST" && /\/channels\/\d+\/messages$/.test(path))
        .map(({ method, path, text }) => ({ channel: "discord", method, path, body: text })),
    stop: () => discord.stop(),
  };
};

function addPlace(discord: FakeDiscord, { chatId, chatType, sender = SOMEBODY }: PlatformEvent): void {
  if (chatId === undefined) return;
  if (chatType === "group") discord.addChannel({ id: chatId, type: channelType.text, guildId: GUILD });
  else
    discord.addChannel({ id: chatId, type: channelType.direct, recipient: { id: sender, username: sender } });
}

function bodyOf(discord: FakeDiscord, event: PlatformEvent): Raw {
  const { messageId, chatId, sender = SOMEBODY, text = "", mention = false } = event;
  const message = discord.plant({
    id: messageId,
    channelId: chatId ?? (event.chatType === "group" ? CHANNEL : discord.directWith(sender).id),
    authorId: sender,
    content: mention ? `<@${BOT.id}> ${text}` : text,
  });
  return discord.eventOf(message);
}
