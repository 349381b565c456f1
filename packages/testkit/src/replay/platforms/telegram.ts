import { groupMention, startTelegram, type TelegramUpdate, textMessage } from "../../telegram/index.ts";
import type { PlatformEvent } from "../scenario.ts";
import type { StartPlatform } from "./platform.ts";

const TOKEN = "42:standin-token-of-the-bot";

/** Telegram, from which the account polls updates. A request with a higher offset confirms an update. */
export const startTelegramPlatform: StartPlatform = async (scenario) => {
  const people = Object.entries(scenario.people["telegram"] ?? {});
  const telegram = await startTelegram({
    token: TOKEN,
    users: people.map(([id, firstName]) => ({ id: Number(id), firstName })),
  });
  const names = new Map(people);
  return {
    env: { TELEGRAM_URL: telegram.url, TELEGRAM_BOT_TOKEN: TOKEN },
    async post(event) {
      const sent = updateOf(event, telegram.bot.username, names);
      await telegram.push(sent);
      return { sent, status: 200 };
    },
    sent: () =>
      telegram.requests
        .filter(({ path }) => path.endsWith("/sendMessage"))
        .map(({ method, text }) => ({ channel: "telegram", method, path: "/sendMessage", body: text })),
    stop: () => telegram.stop(),
  };
};

function updateOf(event: PlatformEvent, bot: string, names: ReadonlyMap<string, string>): TelegramUpdate {
  if (event.body !== undefined) return { update_id: Number(event.eventId ?? 1), ...event.body };
  const { eventId, messageId, chatId, sender = "5001", text = "" } = event;
  const firstName = names.get(sender);
  const options = {
    from: { id: Number(sender), firstName },
    updateId: eventId === undefined ? undefined : Number(eventId),
    messageId: messageId === undefined ? undefined : Number(messageId),
    chat:
      event.chatType === "group" ? { id: Number(chatId ?? -1_001), type: "supergroup" as const } : undefined,
  };
  return event.mention === true ? groupMention(text, bot, options) : textMessage(text, options);
}
