import { z } from "zod";

/** Settings of one account, after the schema. */
export interface DiscordConfig {
  readonly token: string;
  readonly messageContent: boolean;
  readonly registerCommands: boolean;
  readonly apiBaseUrl: string;
}

const where = "Bot > Reset Token in the developer portal (discord.com/developers/applications)";

/** Checks the settings of one account; each issue names field and remedy. */
export const discordConfig: z.ZodType<DiscordConfig> = z.object({
  token: z
    .string({ error: `token is missing: copy it from ${where}.` })
    .trim()
    .transform((token) => token.replace(/^Bot\s+/, ""))
    .refine(isBotToken, {
      error: `token is none of a bot: it has three parts with dots between them. Copy it from ${where}; the client secret under OAuth2 is something else.`,
    }),
  messageContent: z
    .boolean({
      error:
        "messageContent must be true, or false where Message Content Intent is not turned on: the bot then reads direct messages and mentions alone.",
    })
    .default(true),
  registerCommands: z.boolean({ error: "registerCommands must be true or false." }).default(true),
  apiBaseUrl: z
    .url({ protocol: /^https?$/, error: "apiBaseUrl must be an http or https address." })
    .transform((url) => url.replace(/\/+$/, ""))
    .default("https://discord.com"),
});

/** The first part is the bot's id in base64. */
function isBotToken(token: string): boolean {
  const [id = "", ...rest] = token.split(".");
  return rest.length === 2 && /^\d+$/.test(Buffer.from(id, "base64").toString("latin1"));
}

/** Where a server's administrator lets the bot in. */
export function inviteAddress(applicationId: string): string {
  // View channels, send messages also in threads, attach files, read history, add reactions.
  const permissions = (1n << 10n) | (1n << 11n) | (1n << 38n) | (1n << 15n) | (1n << 16n) | (1n << 6n);
  const query = new URLSearchParams({
    client_id: applicationId,
    scope: "bot applications.commands",
    permissions: String(permissions),
  });
  return `https://discord.com/oauth2/authorize?${query}`;
}
