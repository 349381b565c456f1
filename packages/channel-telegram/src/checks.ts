import type { AccountCheck } from "@signalbox/channel";
import type { TelegramApi } from "./api.ts";
import type { TelegramConfig } from "./config.ts";
import { findWebhookProblem } from "./inbound/webhook.ts";

const guestModeCheck: AccountCheck = {
  about: "guests",
  ok: false,
  detail: "people can summon the bot in chats that it has not joined, but it does not reply there",
  remedy: "Turn off guest mode in the bot's settings at @BotFather.",
};

/** Checks the bot's settings in @BotFather and whether Telegram can reach the webhook. */
export async function checkBot(
  api: TelegramApi,
  config: TelegramConfig,
  signal: AbortSignal,
): Promise<readonly AccountCheck[]> {
  const me = await api.call({ what: "fetching the bot's identity", write: false, signal }, (raw) =>
    raw.getMe(),
  );
  const groups: AccountCheck = me.can_join_groups
    ? {
        about: "groups",
        ok: true,
        detail: me.can_read_all_group_messages
          ? "the bot receives all messages in groups"
          : "in groups the bot receives only mentions, replies and commands (privacy mode)",
      }
    : {
        about: "groups",
        ok: false,
        detail: "the bot cannot be added to groups",
        remedy: "To use the bot in groups, send /setjoingroups to @BotFather.",
      };
  const about = me.supports_guest_queries === true ? [groups, guestModeCheck] : [groups];
  if (config.transport === "polling") return about;
  const trouble = await findWebhookProblem(api, config, 0, signal);
  if (trouble === undefined)
    return [...about, { about: "webhook", ok: true, detail: "Telegram reaches the webhook" }];
  const remedy =
    "Telegram must be able to reach webhookUrl over https on port 443, 80, 88 or 8443, with a valid certificate.";
  return [...about, { about: "webhook", ok: false, detail: trouble, remedy }];
}
