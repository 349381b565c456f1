import {
  type AccountCheck,
  type ChannelContext,
  checkWebhook,
  objectAt,
  type WebhookMonitor,
} from "@signalbox/channel";
import type { SlackApi } from "./api.ts";
import type { SlackConfig } from "./config.ts";
import { createChallenge } from "./inbound/webhook.ts";

/** Scopes of the README's manifest, each with the feature that needs it. */
const SCOPES: Readonly<Record<string, string>> = {
  "app_mentions:read": "mentions of the bot",
  "assistant:write": "typing indicator",
  "channels:history": "messages of public channels",
  "channels:read": "names of public channels",
  "chat:write": "sending messages",
  commands: "slash commands",
  "files:read": "receiving files",
  "files:write": "sending files",
  "groups:history": "messages of private channels",
  "groups:read": "names of private channels",
  "im:history": "direct messages",
  "im:read": "direct conversations",
  "im:write": "starting direct conversations",
  "mpim:history": "messages of group conversations",
  "mpim:read": "group conversations",
  "reactions:read": "receiving reactions",
  "reactions:write": "sending reactions",
  "users:read": "names of users",
};

/** Checks the token's scopes, and whether the webhook URL leads to this account and receives events. */
export async function checkAccount(
  context: Pick<ChannelContext<SlackConfig>, "config" | "clock" | "fetch">,
  { api, monitor }: { readonly api: SlackApi; readonly monitor: WebhookMonitor },
  signal: AbortSignal,
): Promise<readonly AccountCheck[]> {
  const { config, fetch } = context;
  const scopes = await checkScopes(api, signal);
  if (config.transport === "socket") return [scopes];
  const challenge = createChallenge(context);
  return [
    scopes,
    await checkWebhook({ platform: "Slack", url: config.webhookUrl, challenge, fetch, signal }),
    monitor.check(),
  ];
}

/** Slack sends the token's scopes with every response. */
async function checkScopes(api: SlackApi, signal: AbortSignal): Promise<AccountCheck> {
  const answer = await api.call(
    "auth.test",
    {},
    { what: "checking the token's scopes", write: false, signal },
  );
  const { scopes } = objectAt(answer, "response_metadata");
  if (!Array.isArray(scopes))
    return { about: "scopes", ok: true, detail: "Slack did not return the token's scopes" };
  const missing = Object.entries(SCOPES).filter(([scope]) => !scopes.includes(scope));
  if (missing.length === 0) return { about: "scopes", ok: true, detail: "the token has all required scopes" };
  return {
    about: "scopes",
    ok: false,
    detail: `the token lacks ${missing.map(([scope, what]) => `${scope} (${what})`).join(", ")}`,
    remedy: "Add them under OAuth & Permissions of the app, then reinstall it.",
  };
}
