import { type AccountCheck, type ChannelContext, checkWebhook, type Health } from "@signalbox/channel";
import type { WecomConfig } from "./config.ts";
import { createChallenge } from "./inbound/webhook.ts";

/** Checks whether the connection is open, or whether the callback URL leads to this account. */
export async function checkAccount(
  context: Pick<ChannelContext<WecomConfig>, "config" | "clock" | "fetch">,
  connection: Health | undefined,
  signal: AbortSignal,
): Promise<readonly AccountCheck[]> {
  if (connection !== undefined) return [checkConnection(connection)];
  const { config, fetch } = context;
  const challenge = createChallenge(context);
  return [await checkWebhook({ platform: "WeCom", url: config.webhookUrl, challenge, fetch, signal })];
}

function checkConnection(health: Health): AccountCheck {
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
