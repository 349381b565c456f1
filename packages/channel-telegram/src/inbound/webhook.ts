import { randomUUID } from "node:crypto";
import {
  type ChannelContext,
  createWebhook,
  equalInConstantTime,
  type HandleResult,
  type Payload,
  parsePayload,
  type ReadBody,
  textAt,
  type VerifyResult,
  type WebhookChallenge,
  type WebhookMonitor,
} from "@signalbox/channel";
import type { TelegramApi } from "../api.ts";
import type { TelegramConfig } from "../config.ts";
import { limits } from "../limits.ts";
import { updateTypes } from "./update.ts";

const SECRET_HEADER = "x-telegram-bot-api-secret-token";

/** Key of a request that `doctor` sends to the webhook. Telegram itself has no challenge. */
const CHECK_KEY = "signalbox_check";

/** Creates the handler for webhook requests. Telegram sends the secret from `setWebhook` in a header. */
export function createUpdateWebhook(
  { config, logger }: ChannelContext<TelegramConfig>,
  handle: (update: Payload) => Promise<HandleResult>,
  monitor: WebhookMonitor,
): (request: Request, read?: ReadBody) => Promise<Response> {
  const { webhookSecret } = config;

  function verify(body: Uint8Array, headers: Headers): VerifyResult<Payload> {
    const secret = headers.get(SECRET_HEADER);
    if (secret === null) return { kind: "forged", reason: "missing secret token" };
    if (webhookSecret === undefined || !equalInConstantTime(secret, webhookSecret))
      return {
        kind: "forged",
        reason: "another secret token",
        remedy:
          "Compare webhookSecret with the secret_token that setWebhook was called with, or set webhookUrl, and the webhook is registered at the next start.",
      };
    const update = parsePayload(new TextDecoder().decode(body));
    const challenge = update && textAt(update, CHECK_KEY);
    if (challenge !== undefined) return { kind: "answer", body: { challenge } };
    return update === undefined
      ? { kind: "malformed", reason: "not an update" }
      : { kind: "event", event: update };
  }

  return createWebhook({ maxBytes: limits.bodyBytes, verify, handle, monitor, logger });
}

/** Builds the request with which `doctor` checks that a URL leads to this account. */
export function createChallenge({ webhookSecret = "" }: TelegramConfig): WebhookChallenge {
  const challenge = randomUUID();
  return {
    body: JSON.stringify({ [CHECK_KEY]: challenge }),
    challenge,
    headers: { "content-type": "application/json", [SECRET_HEADER]: webhookSecret },
  };
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

/** The state of the webhook according to Telegram. */
export interface WebhookState {
  /** The registered URL, if any. */
  readonly url: string | undefined;
  /** The reason why updates do not arrive. `undefined` does not prove that they arrive. */
  readonly problem: string | undefined;
  /** Number of updates that Telegram has not delivered. */
  readonly pending: number;
}

/**
 * Reads the state of the webhook. Telegram reports its last failure, but never a success.
 *
 * @param since ignores failures before this time, in milliseconds since the epoch
 */
export async function readWebhookState(
  api: TelegramApi,
  { webhookUrl }: TelegramConfig,
  since: number,
  signal: AbortSignal,
): Promise<WebhookState> {
  const call = { what: "checking the webhook", write: false, signal };
  const info = await api.call(call, (raw) => raw.getWebhookInfo());
  const url = info.url === "" ? undefined : info.url;
  const pending = info.pending_update_count ?? 0;
  const state = (problem: string | undefined): WebhookState => ({ url, problem, pending });
  if (url === undefined)
    return state("no webhook is registered for this bot: set webhookUrl, or call setWebhook");
  if (webhookUrl !== undefined && url !== webhookUrl)
    return state("Telegram sends this bot's updates to another URL");
  const failedAt = (info.last_error_date ?? 0) * 1_000;
  // Telegram keeps the last failure after a success, but then no updates are pending.
  if (failedAt === 0 || failedAt < since || pending === 0) return state(undefined);
  return state(`Telegram cannot deliver updates: ${info.last_error_message ?? "no reason given"}`);
}
