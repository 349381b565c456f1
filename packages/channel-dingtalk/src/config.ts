import { z } from "zod";

/** Settings of one account, after validation. */
export interface DingTalkConfig {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly robotCode?: string | undefined;
  readonly apiBaseUrl: string;
}

const DEFAULT_API = "https://api.dingtalk.com";
const fromConsole = "copy it from the developer console (open-dev.dingtalk.com > your app > Credentials).";

/** Validates the settings of one account. Each issue names the field and the remedy. */
export const dingtalkConfig: z.ZodType<DingTalkConfig> = z.object({
  clientId: z
    .string({ error: `clientId is missing: ${fromConsole}` })
    .trim()
    .min(1, { error: `clientId is empty: ${fromConsole}` })
    .regex(/^[\w-]*$/, { error: `clientId must be the Client ID (AppKey) of the app: ${fromConsole}` }),
  clientSecret: z
    .string({ error: `clientSecret is missing: ${fromConsole}` })
    .trim()
    .min(8, { error: `clientSecret is too short: ${fromConsole}` }),
  robotCode: z
    .string({ error: "robotCode must be a string. Omit it if it is the same as clientId." })
    .trim()
    .regex(/^[\w-]+$/, { error: "robotCode must consist of letters, digits, _ and -." })
    .optional(),
  apiBaseUrl: z
    .url({ protocol: /^https?$/, error: "apiBaseUrl must be an http or https URL." })
    .default(DEFAULT_API)
    .transform((url) => url.replace(/\/+$/, "")),
});

/** Returns the code of the bot, which for an internal app is its client id. */
export function getRobotCode({ robotCode, clientId }: DingTalkConfig): string {
  return robotCode ?? clientId;
}

/** Returns the base URL for uploads, which DingTalk serves under the host of its older API. */
export function getUploadBase({ apiBaseUrl }: DingTalkConfig): string {
  return apiBaseUrl.replace("://api.dingtalk.", "://oapi.dingtalk.");
}
