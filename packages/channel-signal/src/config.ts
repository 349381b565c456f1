import { z } from "zod";

/** Settings of one account, after validation. */
export interface SignalConfig {
  /** Phone number of the account in international format. */
  readonly account: string;
  readonly baseUrl: string;
}

const command = "signal-cli -a +4915112345678 daemon --http=127.0.0.1:8080 --receive-mode=on-connection";

/** Validates the settings of one account. Each issue names the field and the remedy. */
export const signalConfig: z.ZodType<SignalConfig> = z.object({
  account: z
    .string({
      error: "account is missing: the phone number of the bot's Signal account, such as +4915112345678.",
    })
    .trim()
    .regex(/^\+[1-9]\d{4,14}$/, {
      error: "account must be a phone number in international format, such as +4915112345678.",
    }),
  baseUrl: z
    .url({
      protocol: /^https?$/,
      error: `baseUrl must be the http or https URL of the daemon. Start it with \`${command}\`.`,
    })
    .refine((url) => !hasCredentials(url), {
      error: "baseUrl must not contain a user name or a password, because URLs appear in logs.",
    })
    .default("http://127.0.0.1:8080")
    .transform((url) => url.replace(/\/+$/, "")),
});

function hasCredentials(url: string): boolean {
  const { username, password } = new URL(url);
  return username !== "" || password !== "";
}
