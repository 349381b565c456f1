import {
  type ChannelContext,
  createWebhook,
  equalInConstantTime,
  type Handled,
  type Payload,
  parsePayload,
  type ReadBody,
  type Verified,
} from "@signalbox/channel";
import type { TelegramApi } from "../api.ts";
import type { TelegramConfig } from "../config.ts";
import { limits } from "../limits.ts";
import { updateTypes } from "./update.ts";

/** Answers Telegram's requests. Source: setWebhook's `secret_token`, which comes back as a header. */
export function createUpdateWebhook(
  { config, logger }: ChannelContext<TelegramConfig>,
  handle: (update: Payload) => Promise<Handled>,
): (request: Request, read?: ReadBody) => Promise<Response> {
  const { webhookSecret } = config;

  function verify(body: Uint8Array, headers: Headers): Verified<Payload> {
    const secret = headers.get("x-telegram-bot-api-secret-token");
    if (webhookSecret === undefined || !equalInConstantTime(secret ?? "", webhookSecret))
      return { kind: "forged", reason: "the secret token is missing or wrong" };
    const update = parsePayload(new TextDecoder().decode(body));
    return update === undefined
      ? { kind: "malformed", reason: "not an update" }
      : { kind: "event", event: update };
  }

  return createWebhook({ maxBytes: limits.bodyBytes, verify, handle, logger });
}

/** Registers the webhook where its address is known; otherwise somebody has done so by hand. */
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

/** Why no updates come in, in Telegram's words; undefined where they do. */
export async function webhookTrouble(
  api: TelegramApi,
  { webhookUrl }: TelegramConfig,
  since: number,
  signal: AbortSignal,
): Promise<string | undefined> {
  const call = { what: "asking for the webhook's state", write: false, signal };
  const info = await api.call(call, (raw) => raw.getWebhookInfo());
  if (info.url === undefined || info.url === "")
    return "Telegram has no webhook for this bot: set webhookUrl, or call setWebhook";
  if (webhookUrl !== undefined && info.url !== webhookUrl)
    return "Telegram posts this bot's updates to another address";
  const failedAt = (info.last_error_date ?? 0) * 1_000;
  if (failedAt < since || (info.pending_update_count ?? 0) === 0) return undefined;
  return `Telegram cannot deliver: ${info.last_error_message ?? "no reason given"}`;
}
