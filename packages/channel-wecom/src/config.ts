import { createHash } from "node:crypto";
import { z } from "zod";

/** Settings of one account, after validation. */
export interface WecomConfig {
  readonly transport: "socket" | "webhook";
  readonly botId?: string | undefined;
  readonly secret?: string | undefined;
  readonly wsUrl: string;
  readonly token?: string | undefined;
  readonly encodingAesKey?: string | undefined;
  /** The callback URL that is registered in WeCom. Used only by `checks`. */
  readonly webhookUrl?: string | undefined;
  readonly apiBaseUrl: string;
  /** The bot's name, whose mention is removed from the start of a message. Default: the first word after an `@`. */
  readonly name?: string | undefined;
}

const page = "the bot's API settings in WeCom (API 模式)";

const required = (name: string) =>
  z
    .string({ error: `${name} is missing: copy it from ${page}.` })
    .trim()
    .min(1, { error: `${name} is empty: copy it from ${page}.` });

/** Returns true for `wss://`, and for `ws://` on this machine, where the secret does not cross a network. */
function isSafeSocketUrl(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === "wss:" || ["127.0.0.1", "[::1]", "localhost"].includes(hostname);
}

/** Validates the settings of one account. Each issue names the field and the remedy. */
export const wecomConfig: z.ZodType<WecomConfig> = z
  .object({
    transport: z
      .enum(["socket", "webhook"], {
        error:
          'transport must be "socket" (the gateway connects to WeCom) or "webhook" (WeCom posts callbacks to the gateway).',
      })
      .default("socket"),
    botId: required("botId").optional(),
    secret: required("secret").optional(),
    wsUrl: z
      .url({ protocol: /^wss?$/, error: "wsUrl must be a wss URL.", abort: true })
      .refine(isSafeSocketUrl, {
        error: "wsUrl must start with wss://, because the secret is sent over this connection.",
      })
      .default("wss://openws.work.weixin.qq.com"),
    token: required("token").optional(),
    encodingAesKey: z
      .string()
      .trim()
      .regex(/^[A-Za-z0-9+/]{43}$/, {
        error: `encodingAesKey must have 43 letters and digits: copy it from ${page}.`,
      })
      .optional(),
    webhookUrl: z
      .url({
        protocol: /^https?$/,
        error: "webhookUrl must be the URL that is registered in the bot's API settings.",
      })
      .optional(),
    apiBaseUrl: z
      .url({ protocol: /^https?$/, error: "apiBaseUrl must be an http or https URL." })
      .default("https://qyapi.weixin.qq.com"),
    name: z.string().trim().min(1, { error: "name must be the bot's name in WeCom." }).optional(),
  })
  .check((context) => {
    const { transport } = context.value;
    const needed =
      transport === "socket" ? (["botId", "secret"] as const) : (["token", "encodingAesKey"] as const);
    for (const name of needed)
      if (context.value[name] === undefined)
        context.issues.push({
          code: "custom",
          input: context.value,
          path: [name],
          message: `${name} is missing: the transport "${transport}" needs it. Copy it from ${page}.`,
        });
  });

/**
 * Returns the id of the bot, which callbacks without a configured id do not reveal before the first message. It is then
 * derived from the token, which belongs to one bot.
 */
export function getBotId({ botId, token = "" }: Pick<WecomConfig, "botId" | "token">): string {
  return botId ?? `webhook-${createHash("sha256").update(token).digest("hex").slice(0, 16)}`;
}
