import {
  type AccountCheck,
  type ChannelContext,
  checkWebhook,
  type WebhookMonitor,
} from "@signalbox/channel";
import type { TelegramApi } from "./api.ts";
import type { TelegramConfig } from "./config.ts";
import { createChallenge, readWebhookState } from "./inbound/webhook.ts";

const guestModeCheck: AccountCheck = {
  about: "guests",
  ok: false,
  detail: "people can summon the bot in chats that it has not joined, but it does not reply there",
  remedy: "Turn off guest mode in the bot's settings at @BotFather.",
};

interface CheckedBot {
  readonly context: Pick<ChannelContext<TelegramConfig>, "config" | "fetch">;
  readonly api: TelegramApi;
  readonly monitor: WebhookMonitor;
}

/** Checks the bot's settings in @BotFather and, if it has a webhook, whether updates arrive there. */
export async function checkBot(bot: CheckedBot, signal: AbortSignal): Promise<readonly AccountCheck[]> {
  const { api, context, monitor } = bot;
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
  if (context.config.transport === "polling") return about;
  return [...about, await checkUpdates(bot, signal), monitor.check()];
}

/** Telegram reports failures, but no success. Only an update that arrived proves that Telegram reaches the webhook. */
async function checkUpdates(
  { api, context: { config, fetch }, monitor }: CheckedBot,
  signal: AbortSignal,
): Promise<AccountCheck> {
  const about = "webhook";
  const { url, problem, pending } = await readWebhookState(api, config, 0, signal);
  if (problem !== undefined) return { about, ok: false, detail: problem, remedy: getRemedy(problem) };
  if (monitor.receivedAt !== undefined) return { about, ok: true, detail: "Telegram reaches the webhook" };
  const fromHere = await checkWebhook({
    platform: "Telegram",
    url,
    challenge: createChallenge(config),
    fetch,
    signal,
  });
  if (!fromHere.ok) return fromHere;
  const waiting = pending === 0 ? "" : `, and ${pending} of its updates are pending`;
  return {
    about,
    ok: true,
    detail: `not yet tried by Telegram${waiting}: this account answers at ${url} from here. Write to the bot and run the check again`,
  };
}

function getRemedy(problem: string): string {
  if (/\b401\b/.test(problem))
    return "The webhook is registered with another secret. Set webhookUrl, and it is registered at the next start, or call setWebhook with webhookSecret as secret_token.";
  if (/no webhook is registered|another URL/.test(problem))
    return "Set webhookUrl to the address of this account's webhook, and restart the account to register it.";
  return "Telegram must be able to reach webhookUrl over https on port 443, 80, 88 or 8443, with a valid certificate.";
}
