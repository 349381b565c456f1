import { z } from "zod";

/** Settings of one account, after validation. */
export interface SlackConfig {
  readonly botToken: string;
  readonly transport: "socket" | "webhook";
  readonly appToken?: string | undefined;
  readonly signingSecret?: string | undefined;
  /** The Request URL configured in Slack. Used only by `checks`. */
  readonly webhookUrl?: string | undefined;
  /** The app's slash command. */
  readonly command: string;
  /** True to answer a mention at the top level of a channel in a thread. */
  readonly replyInThread: boolean;
  /** True to show answers with Slack's streams if possible. */
  readonly streams: boolean;
  /** `public`: the app is distributed outside Slack's Marketplace, which restricts reading history. */
  readonly distribution: "internal" | "public";
  readonly baseUrl?: string | undefined;
}

const oauthPage = "OAuth & Permissions";
const basicPage = "Basic Information";

const token = (name: string, start: string, page: string) =>
  z
    .string({ error: `${name} is missing: copy it from ${page} at api.slack.com/apps.` })
    .trim()
    .regex(new RegExp(`^${start}`), {
      error: `${name} must start with ${start}: copy it from ${page} at api.slack.com/apps.`,
    });

/** Validates the settings of one account. Each issue names the field and the remedy. */
export const slackConfig: z.ZodType<SlackConfig> = z
  .object({
    botToken: token("botToken", "xoxb-", oauthPage),
    transport: z
      .enum(["socket", "webhook"], {
        error:
          'transport must be "socket" (the gateway connects to Slack) or "webhook" (Slack sends events to the gateway).',
      })
      .default("socket"),
    appToken: token("appToken", "xapp-", `${basicPage} > App-Level Tokens`).optional(),
    signingSecret: z
      .string()
      .trim()
      .min(1, { error: `signingSecret is empty: copy it from ${basicPage} at api.slack.com/apps.` })
      .optional(),
    webhookUrl: z
      .url({
        protocol: /^https?$/,
        error: "webhookUrl must be the Request URL that is set under Event Subscriptions.",
      })
      .optional(),
    command: z
      .string()
      .regex(/^\/[a-z0-9_-]{1,31}$/, {
        error: "command must be a slash and a name, as under Slash Commands of the app: /signalbox.",
      })
      .default("/signalbox"),
    replyInThread: z.boolean({ error: "replyInThread must be true or false." }).default(true),
    streams: z.boolean({ error: "streams must be true or false." }).default(true),
    distribution: z
      .enum(["internal", "public"], {
        error: 'distribution must be "internal" (an app for your own workspace) or "public".',
      })
      .default("internal"),
    baseUrl: z.url({ protocol: /^https?$/, error: "baseUrl must be an http or https URL." }).optional(),
  })
  .check((context) => {
    const { transport, appToken, signingSecret } = context.value;
    const missing = (path: string, message: string): void => {
      context.issues.push({ code: "custom", input: context.value, path: [path], message });
    };
    if (transport === "socket" && appToken === undefined)
      missing(
        "appToken",
        `appToken is missing: generate one with connections:write under ${basicPage} > App-Level Tokens.`,
      );
    if (transport === "webhook" && signingSecret === undefined)
      missing(
        "signingSecret",
        `signingSecret is missing: without it, anyone could send events. Copy it from ${basicPage}.`,
      );
  });

/** Returns the base URL of the API, with a trailing slash. */
export function apiBase(config: SlackConfig): string {
  return `${(config.baseUrl ?? "https://slack.com/api").replace(/\/+$/, "")}/`;
}
