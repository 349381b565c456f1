import { type AccountCheck, type ChannelContext, checkWebhook, objectAt } from "@signalbox/channel";
import type { SlackApi } from "./api.ts";
import type { SlackConfig } from "./config.ts";
import { challengeOf } from "./inbound/webhook.ts";

/** What the app's manifest in the README asks for, and what is missing without it. */
const SCOPES: Readonly<Record<string, string>> = {
  "app_mentions:read": "messages that name the bot",
  "assistant:write": "the sign that it writes",
  "channels:history": "messages of public channels",
  "channels:read": "names of public channels",
  "chat:write": "every answer",
  commands: "slash commands",
  "files:read": "files of messages",
  "files:write": "files of answers",
  "groups:history": "messages of private channels",
  "groups:read": "names of private channels",
  "im:history": "direct messages",
  "im:read": "direct conversations",
  "im:write": "beginning a direct conversation",
  "mpim:history": "messages of group conversations",
  "mpim:read": "group conversations",
  "reactions:read": "reactions of people",
  "reactions:write": "reactions of the bot",
  "users:read": "names of people",
};

/** What the token may do, and whether the address for events leads here. */
export async function checkAccount(
  context: Pick<ChannelContext<SlackConfig>, "config" | "clock" | "fetch">,
  api: SlackApi,
  signal: AbortSignal,
): Promise<readonly AccountCheck[]> {
  const { config, fetch } = context;
  const scopes = await checkScopes(api, signal);
  if (config.transport === "socket") return [scopes];
  const challenge = challengeOf(context);
  return [
    scopes,
    await checkWebhook({ platform: "Slack", url: config.webhookUrl, challenge, fetch, signal }),
  ];
}

/** Slack says with each answer what the token may do. */
async function checkScopes(api: SlackApi, signal: AbortSignal): Promise<AccountCheck> {
  const answer = await api.call("auth.test", {}, { what: "asking for the scopes", write: false, signal });
  const { scopes } = objectAt(answer, "response_metadata");
  if (!Array.isArray(scopes))
    return { about: "scopes", ok: true, detail: "Slack does not say which scopes the token has" };
  const missing = Object.entries(SCOPES).filter(([scope]) => !scopes.includes(scope));
  if (missing.length === 0) return { about: "scopes", ok: true, detail: "the token has all of them" };
  return {
    about: "scopes",
    ok: false,
    detail: `the token lacks ${missing.map(([scope, what]) => `${scope} (${what})`).join(", ")}`,
    remedy: "Add them under OAuth & Permissions of the app, and install it again.",
  };
}
