import {
  type ChannelContext,
  createWebhook,
  equalInConstantTime,
  type HandleResult,
  type Payload,
  parsePayload,
  type ReadBody,
  type VerifyResult,
} from "@signalbox/channel";
import type { TelegramApi } from "../api.ts";
import type { TelegramConfig } from "../config.ts";
import { limits } from "../limits.ts";
import { updateTypes } from "./update.ts";

/** Creates the handler for webhook requests. Telegram sends the secret from `setWebhook` in a header. */
export function createUpdateWebhook(
  { config, logger }: ChannelContext<TelegramConfig>,
  handle: (update: Payload) => Promise<HandleResult>,
): (request: Request, read?: ReadBody) => Promise<Response> {
  const { webhookSecret } = config;

  function verify(body: Uint8Array, headers: Headers): VerifyResult<Payload> {
    const secret = headers.get("x-telegram-bot-api-secret-token");
    if (webhookSecret === undefined || !equalInConstantTime(secret ?? "", webhookSecret))
      return { kind: "forged", reason: "missing or wrong secret token" };
    const update = parsePayload(new TextDecoder().decode(body));
    return update === undefined
      ? { kind: "malformed", reason: "not an update" }
      : { kind: "event", event: update };
  }

  return createWebhook({ maxBytes: limits.bodyBytes, verify, handle, logger });
}

/** Registers the webhook if its URL is configured. Otherwise the operator must register it. */
export async function registerWebhook(
  api: TelegramApi,
  { webhookUrl, webhookSecret }: TelegramConfig,
  signal: AbortSignal,
): Promise<void> {
  if (webhookUrl === undefined || webhookSecret === undefined) return;
  await api.call({ what: "registering the webhook", write: false, signal }, (raw) =>
    raw.setWebhook({ url: webhookUrl, secret_token: webhookSecret, allowed_updates: updateTypes }),
  );
}

/** Returns Telegram's reason for failing to deliver updates, or `undefined` if it delivers them. */
export async function findWebhookProblem(
  api: TelegramApi,
  { webhookUrl }: TelegramConfig,
  since: number,
  signal: AbortSignal,
): Promise<string | undefined> {
  const call = { what: "checking the webhook", write: false, signal };
  const info = await api.call(call, (raw) => raw.getWebhookInfo());
  if (info.url === undefined || info.url === "")
    return "no webhook is registered for this bot: set webhookUrl, or call setWebhook";
  if (webhookUrl !== undefined && info.url !== webhookUrl)
    return "Telegram sends this bot's updates to another URL";
  const failedAt = (info.last_error_date ?? 0) * 1_000;
  if (failedAt < since || (info.pending_update_count ?? 0) === 0) return undefined;
  return `Telegram cannot deliver updates: ${info.last_error_message ?? "no reason given"}`;
}
