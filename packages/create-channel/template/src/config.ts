import { z } from "zod";

/** Settings of one account, validated by the schema. Each error message contains the remedy. */
export interface Config {
  readonly apiUrl: string;
  readonly token: string;
  readonly signingSecret: string;
}

const fromSettings = "copy it from the settings of the bot.";

export const config: z.ZodType<Config> = z.object({
  apiUrl: z.url({ protocol: /^https?$/, error: "apiUrl must be an http or https address." }),
  token: z.string({ error: `token is missing: ${fromSettings}` }).min(1, `token is empty: ${fromSettings}`),
  signingSecret: z
    .string({ error: `signingSecret is missing: ${fromSettings}` })
    .min(16, `signingSecret is too short: ${fromSettings}`),
});
