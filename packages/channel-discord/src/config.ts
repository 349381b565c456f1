import { z } from "zod";

/** Settings of one account, after validation. */
export interface DiscordConfig {
  readonly token: string;
  readonly messageContent: boolean;
  readonly registerCommands: boolean;
  readonly apiBaseUrl: string;
}

const where = "Bot > Reset Token in the developer portal (discord.com/developers/applications)";

/** Validates the settings of one account. Each issue names the field and the remedy. */
export const discordConfig: z.ZodType<DiscordConfig> = z.object({
  token: z
    .string({ error: `token is missing: copy it from ${where}.` })
    .trim()
    .transform((token) => token.replace(/^Bot\s+/, ""))
    .refine(isBotToken, {
      error: `token must be a bot token: three parts separated by dots. Copy it from ${where}, not the client secret under OAuth2.`,
    }),
  messageContent: z
    .boolean({
      error:
        "messageContent must be true, or false if Message Content Intent is off: the bot then receives only direct messages and mentions.",
    })
    .default(true),
  registerCommands: z.boolean({ error: "registerCommands must be true or false." }).default(true),
  apiBaseUrl: z
    .url({ protocol: /^https?$/, error: "apiBaseUrl must be an http or https URL." })
    .transform((url) => url.replace(/\/+$/, ""))
    .default("https://discord.com"),
});

/** The first segment of a bot token is the bot's id in base64. */
function isBotToken(token: string): boolean {
  const [id = "", ...rest] = token.split(".");
  return rest.length === 2 && /^\d+$/.test(Buffer.from(id, "base64").toString("latin1"));
}

/** Returns the URL for adding the bot to a server. */
export function inviteAddress(applicationId: string): string {
  // View channels, send messages, send messages in threads, attach files, read history, add reactions.
  const permissions = (1n << 10n) | (1n << 11n) | (1n << 38n) | (1n << 15n) | (1n << 16n) | (1n << 6n);
  const query = new URLSearchParams({
    client_id: applicationId,
    scope: "bot applications.commands",
    permissions: String(permissions),
  });
  return `https://discord.com/oauth2/authorize?${query}`;
}
