import { z } from "zod";

/** Settings of one account, after validation. */
export interface WhatsAppConfig {
  readonly accessToken: string;
  readonly phoneNumberId: string;
  readonly appSecret: string;
  readonly verifyToken: string;
  readonly apiBaseUrl: string;
}

/** The version of the Graph API that the requests are written for. */
const API_VERSION = "v23.0";

function required(name: string, where: string): z.ZodString {
  const error = `${name} is missing: ${where}`;
  return z.string({ error }).trim().min(1, { error, abort: true });
}

const apiSetup = "copy it from WhatsApp > API Setup of your app on developers.facebook.com.";
const systemUser =
  "create a token that does not expire for a system user under Business settings > System users, with the permissions whatsapp_business_messaging and whatsapp_business_management.";

/** Validates the settings of one account. Each issue names the field and the remedy. */
export const whatsappConfig: z.ZodType<WhatsAppConfig> = z.object({
  accessToken: required("accessToken", systemUser).regex(/^[\x21-\x7e]+$/, {
    error: `accessToken must be a single word: ${systemUser}`,
  }),
  // Without quotes, YAML reads it as a number.
  phoneNumberId: z.preprocess(
    (id) => (Number.isSafeInteger(id) ? String(id) : id),
    required("phoneNumberId", apiSetup).regex(/^\d{5,32}$/, {
      error: `phoneNumberId must consist of digits, and is not the phone number: ${apiSetup}`,
    }),
  ),
  appSecret: required(
    "appSecret",
    "without it, anyone could send events. Copy it from App settings > Basic of your app on developers.facebook.com.",
  ),
  verifyToken: required(
    "verifyToken",
    "choose it yourself, for instance with `openssl rand -hex 32`, and enter it under WhatsApp > Configuration.",
  ).min(8, {
    error: "verifyToken must have at least 8 characters. Generate one with `openssl rand -hex 32`.",
  }),
  apiBaseUrl: z
    .url({ protocol: /^https?$/, error: "apiBaseUrl must be an http or https URL." })
    .default("https://graph.facebook.com")
    .transform(withVersion),
});

/** Adds the version of the API to a URL without one. */
function withVersion(url: string): string {
  const base = url.replace(/\/+$/, "");
  return /\/v\d+\.\d+$/.test(base) ? base : `${base}/${API_VERSION}`;
}
