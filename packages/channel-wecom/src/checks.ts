import {
  type AccountCheck,
  type ChannelContext,
  checkWebhook,
  type Health,
  type WebhookMonitor,
} from "@signalbox/channel";
import type { WecomConfig } from "./config.ts";
import { createChallenge } from "./inbound/webhook.ts";

/** Checks whether the callback URL leads to this account, and whether WeCom's requests are accepted. */
export async function checkCallbacks(
  context: Pick<ChannelContext<WecomConfig>, "config" | "clock" | "fetch">,
  monitor: WebhookMonitor,
  signal: AbortSignal,
): Promise<readonly AccountCheck[]> {
  const { config, fetch } = context;
  const challenge = createChallenge(context);
  const { webhookUrl: url } = config;
  return [await checkWebhook({ platform: "WeCom", url, challenge, fetch, signal }), monitor.check()];
}

/** Checks whether the long connection is open. */
export function checkConnection(health: Health): AccountCheck {
  const about = "connection";
  if (health.state === "ready")
    return { about, ok: true, detail: "WeCom has accepted the bot's id and secret" };
  return {
    about,
    ok: false,
    detail: "reason" in health ? health.reason : `the connection is ${health.state}`,
    remedy:
      "Choose the long connection (长连接) in the bot's API settings, copy the bot id and the secret from there, and stop other programs that use this bot.",
  };
}
