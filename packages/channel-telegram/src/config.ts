import { z } from "zod";

/** Settings of one account, after the schema. */
export interface TelegramConfig {
  readonly botToken: string;
  readonly transport: "polling" | "webhook";
  readonly webhookSecret?: string | undefined;
  readonly webhookUrl?: string | undefined;
  readonly richMessages: boolean;
  readonly apiBaseUrl: string;
}

/** Characters of a secret that differ from each other: of sixteen made up at random some ten do. */
const LEAST_DIFFERENT = 7;
const fromBotFather = "copy it from the chat with @BotFather (/mybots > API Token).";

/** Checks the settings of one account; each issue names field and remedy. */
export const telegramConfig: z.ZodType<TelegramConfig> = z
  .object({
    botToken: z
      .string({ error: `botToken is missing: ${fromBotFather}` })
      .trim()
      .regex(/^\d{1,20}:[A-Za-z0-9_-]{10,100}$/, {
        error: `botToken must be a number, a colon and a secret: ${fromBotFather}`,
      }),
    transport: z
      .enum(["polling", "webhook"], {
        error: 'transport must be "polling" (updates are fetched) or "webhook" (Telegram posts them here).',
      })
      .default("polling"),
    webhookSecret: z
      .string()
      .regex(/^[A-Za-z0-9_-]{16,256}$/, {
        error: "webhookSecret must be 16 to 256 letters, digits, _ or -: make one up and keep it secret.",
        abort: true,
      })
      .refine((secret) => new Set(secret).size >= LEAST_DIFFERENT, {
        error: "webhookSecret can be guessed: it repeats itself. Make one with `openssl rand -hex 32`.",
      })
      .optional(),
    webhookUrl: z
      .url({
        protocol: /^https?$/,
        error: "webhookUrl must be the address under which Telegram reaches this webhook.",
      })
      .optional(),
    // Off: older clients show nothing of a rich message, and a bot cannot know what its readers have.
    richMessages: z.boolean({ error: "richMessages must be true or false." }).default(false),
    apiBaseUrl: z
      .url({ protocol: /^https?$/, error: "apiBaseUrl must be an http or https address." })
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
        "webhookSecret is missing: without it anybody could post updates. Make up 16 letters and digits or more.",
    });
  });
