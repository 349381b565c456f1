import { z } from "zod";

/** Validated settings of an account. */
export interface FeishuConfig {
  readonly appId: string;
  readonly appSecret: string;
  readonly transport: "webhook" | "socket";
  readonly verificationToken?: string | undefined;
  readonly encryptKey?: string | undefined;
  /** The request URL of the app, used by the account's checks. Default: the URL that Feishu has stored. */
  readonly webhookUrl?: string | undefined;
  readonly domain: "feishu" | "lark";
  /** True to stream answers into cards if the app has the permission. */
  readonly streams: boolean;
  /** True to reread messages to the bot, to detect edits. */
  readonly readEdits: boolean;
  readonly baseUrl?: string | undefined;
}

const required = (name: string, where: string) =>
  z
    .string({ error: `${name} is missing: copy it from ${where} in the developer console.` })
    .trim()
    .min(1, { error: `${name} is empty: copy it from ${where} in the developer console.` });

const credentials = "Credentials & Basic Info";
const strategy = "Events & Callbacks > Encryption Strategy";

/** Validates the settings of an account. Each issue names the field and the remedy. */
export const feishuConfig: z.ZodType<FeishuConfig> = z
  .object({
    appId: required("appId", credentials),
    appSecret: required("appSecret", credentials),
    transport: z
      .enum(["webhook", "socket"], {
        error:
          'transport must be "webhook" (Feishu posts events here) or "socket" (a connection from here to Feishu).',
      })
      .default("webhook"),
    verificationToken: required("verificationToken", strategy).optional(),
    encryptKey: required("encryptKey", strategy).optional(),
    webhookUrl: z
      .url({
        protocol: /^https?$/,
        error: "webhookUrl must be the request address entered under Events & Callbacks.",
      })
      .optional(),
    domain: z.enum(["feishu", "lark"], { error: 'domain must be "feishu" or "lark".' }).default("feishu"),
    streams: z.boolean({ error: "streams must be true or false." }).default(true),
    readEdits: z.boolean({ error: "readEdits must be true or false." }).default(true),
    baseUrl: z.url({ protocol: /^https?$/, error: "baseUrl must be an http or https address." }).optional(),
  })
  .check((context) => {
    const { appId, transport, verificationToken, encryptKey } = context.value;
    if (transport === "socket") {
      if (/^cli_[0-9a-fA-F]{16}$/.test(appId)) return;
      const message = `appId must be cli_ and 16 hexadecimal digits for a socket: copy it from ${credentials} in the developer console.`;
      context.issues.push({ code: "custom", input: appId, path: ["appId"], message });
      return;
    }
    if (verificationToken !== undefined || encryptKey !== undefined) return;
    context.issues.push({
      code: "custom",
      input: context.value,
      path: ["verificationToken"],
      message: `verificationToken is missing: without it or an encryptKey anybody could post events. Copy it from ${strategy} in the developer console.`,
    });
  });

/** Returns the base URL of the API, without a trailing slash. */
export function apiBase(config: FeishuConfig): string {
  const host = config.domain === "lark" ? "https://open.larksuite.com" : "https://open.feishu.cn";
  return (config.baseUrl ?? host).replace(/\/+$/, "");
}
