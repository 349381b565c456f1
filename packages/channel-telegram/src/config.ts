import { z } from "zod";

/** Settings of one account, after validation. */
export interface TelegramConfig {
  readonly botToken: string;
  readonly transport: "polling" | "webhook";
  readonly webhookSecret?: string | undefined;
  readonly webhookUrl?: string | undefined;
  readonly richMessages: boolean;
  readonly apiBaseUrl: string;
}

/** Minimum number of distinct characters in a secret. Sixteen random characters contain about ten. */
const MIN_DISTINCT_CHARACTERS = 7;
const fromBotFather = "copy it from the chat with @BotFather (/mybots > API Token).";

/** Validates the settings of one account. Each issue names the field and the remedy. */
export const telegramConfig: z.ZodType<TelegramConfig> = z
  .object({
    botToken: z
      .string({ error: `botToken is missing: ${fromBotFather}` })
      .trim()
      .regex(/^\d{1,20}:[A-Za-z0-9_-]{10,100}$/, {
        error: `botToken must consist of a number, a colon and a secret: ${fromBotFather}`,
      }),
    transport: z
      .enum(["polling", "webhook"], {
        error:
          'transport must be "polling" (the gateway fetches updates) or "webhook" (Telegram sends them to the gateway).',
      })
      .default("polling"),
    webhookSecret: z
      .string()
      .regex(/^[A-Za-z0-9_-]{16,256}$/, {
        error:
          "webhookSecret must be 16 to 256 letters, digits, _ or -. Generate one with `openssl rand -hex 32`.",
        abort: true,
      })
      .refine((secret) => new Set(secret).size >= MIN_DISTINCT_CHARACTERS, {
        error: "webhookSecret is too easy to guess. Generate one with `openssl rand -hex 32`.",
      })
      .optional(),
    webhookUrl: z
      .url({
        protocol: /^https?$/,
        error: "webhookUrl must be the public URL of this webhook.",
      })
      .optional(),
    // Off by default, because older clients do not show rich messages and a bot cannot detect the reader's client.
    richMessages: z.boolean({ error: "richMessages must be true or false." }).default(false),
    apiBaseUrl: z
      .url({ protocol: /^https?$/, error: "apiBaseUrl must be an http or https URL." })
      .default("https://api.telegram.org")
      .transform((url) => url.replace(/\/+$/, "")),
  })
  .check((context) => {
    const { transport, webhookSecret } = context.value;
    if (transport !== "webhook" || webhookSecret !== undefined) return;
    context.issues.push({
      code: "custom",
      input: context.value,
      path: ["webhookSecret"],
      message:
        "webhookSecret is missing: without it, anyone could send updates. Generate one with `openssl rand -hex 32`.",
    });
  });
