import { z } from "zod";

/** Settings of one account, after the schema. */
export interface SlackConfig {
  readonly botToken: string;
  readonly transport: "socket" | "webhook";
  readonly appToken?: string | undefined;
  readonly signingSecret?: string | undefined;
  /** The address entered as Request URL at Slack; called by whoever looks for what is wrong, and by nobody else. */
  readonly webhookUrl?: string | undefined;
  /** The slash command of the app. */
  readonly command: string;
  /** A mention at the top of a channel is answered in a thread. */
  readonly replyInThread: boolean;
  /** Whether answers are shown by Slack's streams where they can be. */
  readonly streams: boolean;
  /** `public`: the app is given to others outside Slack's marketplace, and may hardly read history. */
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
      error: `${name} has to begin with ${start}: copy it from ${page} at api.slack.com/apps.`,
    });

/** Checks the settings of one account; each issue names field and remedy. */
export const slackConfig: z.ZodType<SlackConfig> = z
  .object({
    botToken: token("botToken", "xoxb-", oauthPage),
    transport: z
      .enum(["socket", "webhook"], {
        error:
          'transport must be "socket" (connections from here to Slack) or "webhook" (Slack posts events here).',
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
        error: "webhookUrl must be the address that is entered as Request URL under Event Subscriptions.",
      })
      .optional(),
    command: z
      .string()
      .regex(/^\/[a-z0-9_-]{1,31}$/, {
        error: "command must be a slash and a name, as in the app's Slash Commands: /signalbox.",
      })
      .default("/signalbox"),
    replyInThread: z.boolean({ error: "replyInThread must be true or false." }).default(true),
    streams: z.boolean({ error: "streams must be true or false." }).default(true),
    distribution: z
      .enum(["internal", "public"], {
        error: 'distribution must be "internal" (an app of your own workspace) or "public".',
      })
      .default("internal"),
    baseUrl: z.url({ protocol: /^https?$/, error: "baseUrl must be an http or https address." }).optional(),
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
        `signingSecret is missing: without it anybody could post events. Copy it from ${basicPage}.`,
      );
  });

/** Where the account's API is, with a trailing slash. */
export function apiBase(config: SlackConfig): string {
  return `${(config.baseUrl ?? "https://slack.com/api").replace(/\/+$/, "")}/`;
}
