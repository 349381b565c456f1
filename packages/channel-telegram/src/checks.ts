import type { AccountCheck } from "@signalbox/channel";
import type { TelegramApi } from "./api.ts";
import type { TelegramConfig } from "./config.ts";
import { webhookTrouble } from "./inbound/webhook.ts";

const summoned: AccountCheck = {
  about: "guests",
  ok: false,
  detail: "people can summon the bot in chats that it is not in, and get no answer there",
  remedy: "Switch guest mode off in @BotFather's settings of the bot.",
};

/** What @BotFather has set for the bot, and whether Telegram gets its updates through. */
export async function checkBot(
  api: TelegramApi,
  config: TelegramConfig,
  signal: AbortSignal,
): Promise<readonly AccountCheck[]> {
  const me = await api.call({ what: "asking who the bot is", write: false, signal }, (raw) => raw.getMe());
  const groups: AccountCheck = me.can_join_groups
    ? {
        about: "groups",
        ok: true,
        detail: me.can_read_all_group_messages
          ? "the bot reads everything in groups"
          : "in groups the bot reads what names it or answers it, and commands (privacy mode)",
      }
    : {
        about: "groups",
        ok: false,
        detail: "the bot cannot be added to groups",
        remedy: "Send /setjoingroups to @BotFather where it is to be in groups.",
      };
  const about = me.supports_guest_queries === true ? [groups, summoned] : [groups];
  if (config.transport === "polling") return about;
  const trouble = await webhookTrouble(api, config, 0, signal);
  if (trouble === undefined) return [...about, { about: "webhook", ok: true, detail: "Telegram reaches it" }];
  const remedy =
    "Telegram has to reach webhookUrl by https on port 443, 80, 88 or 8443, with a certificate that counts.";
  return [...about, { about: "webhook", ok: false, detail: trouble, remedy }];
}
