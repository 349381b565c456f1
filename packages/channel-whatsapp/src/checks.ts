import {
  type AccountCheck,
  type ChannelContext,
  checkWebhook,
  isChannelError,
  objectAt,
  type Payload,
  textAt,
  timeAt,
} from "@signalbox/channel";
import type { WhatsAppApi } from "./api.ts";
import type { WhatsAppConfig } from "./config.ts";
import { limits } from "./limits.ts";

/** Permissions that the access token needs. */
const SCOPES = ["whatsapp_business_messaging", "whatsapp_business_management"];

const newToken =
  "Under Business settings > System users, create a token that does not expire, with the permissions whatsapp_business_messaging and whatsapp_business_management, and set accessToken.";

/** Checks the quality of the number, the expiry and permissions of the token, and the registered webhook. */
export async function checkAccount(
  { config, clock, fetch }: Pick<ChannelContext<WhatsAppConfig>, "config" | "clock" | "fetch">,
  api: WhatsAppApi,
  signal: AbortSignal,
): Promise<readonly AccountCheck[]> {
  const read = (what: string, path: string, query: Readonly<Record<string, string>>) =>
    api.read(what, path, query, signal).catch(ifRefused);
  const number = await api.read(
    "checking the number",
    config.phoneNumberId,
    { fields: "display_phone_number,verified_name,quality_rating" },
    signal,
  );
  const token = await read("checking the token", "debug_token", { input_token: config.accessToken });
  const webhooks = await read("checking the webhook", config.phoneNumberId, {
    fields: "webhook_configuration",
  });
  return [
    checkNumber(number),
    ...(token === undefined ? [] : [checkToken(objectAt(token, "data"), clock.now())]),
    await checkSubscription(config, webhooks, fetch, signal),
  ];
}

/** Meta answers these requests only for some tokens. */
function ifRefused(error: unknown): undefined {
  if (!isChannelError(error) || !["auth", "permission", "not_found", "invalid"].includes(error.code))
    throw error;
}

function checkNumber(number: Payload): AccountCheck {
  const name = `${textAt(number, "verified_name") ?? "the business"}, ${textAt(number, "display_phone_number") ?? "no number"}`;
  const rating = textAt(number, "quality_rating") ?? "NA";
  if (rating !== "RED") return { about: "number", ok: true, detail: `${name}; quality rating ${rating}` };
  return {
    about: "number",
    ok: false,
    detail: `${name}: people block or report the number, so WhatsApp may limit or pause it`,
    remedy: "See the reasons under WhatsApp Manager > Phone numbers, and send fewer unsolicited messages.",
  };
}

function checkToken(token: Payload, now: number): AccountCheck {
  const about = "token";
  const { scopes } = token;
  const missing = Array.isArray(scopes) ? SCOPES.filter((scope) => !scopes.includes(scope)) : [];
  if (missing.length > 0)
    return { about, ok: false, detail: `the token lacks ${missing.join(" and ")}`, remedy: newToken };
  const expiresAt = timeAt(token, "expires_at");
  if (expiresAt === undefined) return { about, ok: true, detail: "the token does not expire" };
  const detail = `the token expires at ${new Date(expiresAt).toISOString()}`;
  if (expiresAt - now > limits.tokenWarningMs) return { about, ok: true, detail };
  return { about, ok: false, detail, remedy: newToken };
}

/** Checks the URL that is registered for the number, the business account or the app, the most specific one first. */
async function checkSubscription(
  { verifyToken }: WhatsAppConfig,
  webhooks: Payload | undefined,
  fetch: typeof globalThis.fetch,
  signal: AbortSignal,
): Promise<AccountCheck> {
  const registered = objectAt(webhooks ?? {}, "webhook_configuration");
  const url = ["phone_number", "whatsapp_business_account", "application"]
    .map((level) => textAt(registered, level))
    .find((one) => one !== undefined);
  if (webhooks !== undefined && url === undefined)
    return {
      about: "webhook",
      ok: false,
      detail: "no webhook URL is registered, so no messages arrive",
      remedy:
        "Enter this account's URL and verifyToken under WhatsApp > Configuration of the app, and subscribe to the field messages.",
    };
  const challenge = "signalbox-check";
  const query = { "hub.mode": "subscribe", "hub.verify_token": verifyToken, "hub.challenge": challenge };
  return checkWebhook({ platform: "WhatsApp", url, challenge: { query, challenge }, fetch, signal });
}
