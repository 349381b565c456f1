import {
  type AccountCheck,
  type ChannelContext,
  checkWebhook,
  isPayload,
  objectAt,
  objectsAt,
  type Payload,
  textAt,
  type WebhookMonitor,
} from "@signalbox/channel";
import type { FeishuApi } from "./api.ts";
import type { FeishuConfig } from "./config.ts";
import { challengeOf } from "./inbound/webhook.ts";

/** Permissions of the app. One permission from each `anyOf` is sufficient. */
const PERMISSIONS: readonly { readonly anyOf: readonly string[]; readonly without: string }[] = [
  { anyOf: ["im:message", "im:message:send_as_bot"], without: "no answer can be sent" },
  { anyOf: ["im:message", "im:message:readonly"], without: "quoted and missed messages cannot be read" },
  { anyOf: ["im:message.group_msg"], without: "what was missed in groups cannot be read" },
  { anyOf: ["im:resource"], without: "files are neither read nor sent" },
  { anyOf: ["im:chat:readonly", "im:chat"], without: "groups have no names" },
  { anyOf: ["cardkit:card:write"], without: "answers are not typed while they are written" },
  {
    anyOf: ["contact:user.base:readonly", "contact:contact.base:readonly"],
    without: "people have no names",
  },
];

const GRANTED = 1;

type ChecksContext = Pick<ChannelContext<FeishuConfig>, "config" | "fetch">;

/**
 * Checks the permissions of the app, and whether Feishu delivers its events over the transport that this account uses.
 */
export async function checkApp(
  context: ChecksContext,
  { api, monitor }: { readonly api: FeishuApi; readonly monitor: WebhookMonitor },
  signal: AbortSignal,
): Promise<readonly AccountCheck[]> {
  const subscription = await readSubscription(context.config, api, signal);
  const checks = [await checkPermissions(api, signal), checkSubscription(context.config, subscription)];
  if (context.config.transport === "socket") return checks;
  const url = context.config.webhookUrl ?? subscription?.url;
  const challenge = challengeOf(context);
  const { fetch } = context;
  return [
    ...checks,
    await checkWebhook({ platform: "Feishu", url, challenge, fetch, signal }),
    monitor.check(),
  ];
}

/** The app's event subscription. */
interface Subscription {
  readonly type: string | undefined;
  readonly url: string | undefined;
  readonly events: readonly unknown[];
}

/** Returns `undefined` if the app may not read its own settings. */
async function readSubscription(
  { appId }: FeishuConfig,
  api: FeishuApi,
  signal: AbortSignal,
): Promise<Subscription | undefined> {
  const call = { what: "reading the app's event subscription", write: false, signal };
  const url = `/open-apis/application/v6/applications/${encodeURIComponent(appId)}`;
  const answer = await api.call(call, (client) => client.get(url, { lang: "en_us" })).catch(() => undefined);
  const app = isPayload(answer) ? objectAt(objectAt(answer, "data"), "app") : {};
  return isPayload(app["event"]) ? subscriptionOf(app["event"]) : undefined;
}

function subscriptionOf(event: Payload): Subscription {
  const { subscribed_events: events } = event;
  return {
    type: textAt(event, "subscription_type"),
    url: textAt(event, "request_url"),
    events: Array.isArray(events) ? events : [],
  };
}

const MESSAGES = "im.message.receive_v1";

function checkSubscription(
  { transport, webhookUrl }: FeishuConfig,
  subscription: Subscription | undefined,
): AccountCheck {
  const about = "events";
  if (subscription === undefined)
    return {
      about,
      ok: true,
      detail:
        "not checked: Feishu says how it hands the app's events over to apps with application:application:self_manage alone",
    };
  const trouble = subscriptionTrouble(subscription, { transport, webhookUrl });
  if (trouble === undefined) return { about, ok: true, detail: `the app subscribes to ${MESSAGES}` };
  const remedy = "Change it under Events & Callbacks of the app, and publish a version of it.";
  return { about, ok: false, detail: trouble, remedy };
}

function subscriptionTrouble(
  { type, url, events }: Subscription,
  { transport, webhookUrl }: Pick<FeishuConfig, "transport" | "webhookUrl">,
): string | undefined {
  if (type === "websocket" && transport === "webhook")
    return 'Feishu hands events over by a long connection, and this account waits for a webhook (transport: "socket" here)';
  if (type === "webhook" && transport === "socket")
    return 'Feishu posts events to an address, and this account waits on a long connection (transport: "webhook" here)';
  if (transport === "webhook" && webhookUrl !== undefined && url !== undefined && url !== webhookUrl)
    return `Feishu posts events to ${url}, which is not webhookUrl`;
  return events.includes(MESSAGES) ? undefined : `the app does not subscribe to ${MESSAGES}`;
}

/** Checks the permissions that the tenant has granted to the app. */
async function checkPermissions(api: FeishuApi, signal: AbortSignal): Promise<AccountCheck> {
  const answer = await api.call({ what: "asking for the permissions", write: false, signal }, (client) =>
    client.get("/open-apis/application/v6/scopes"),
  );
  const data = isPayload(answer) && isPayload(answer["data"]) ? answer["data"] : {};
  const granted = new Set(
    objectsAt(data, "scopes").flatMap((scope) =>
      scope["grant_status"] === GRANTED ? (textAt(scope, "scope_name") ?? []) : [],
    ),
  );
  const missing = PERMISSIONS.filter(({ anyOf }) => !anyOf.some((name) => granted.has(name)));
  if (missing.length === 0) return { about: "permissions", ok: true, detail: "the app has all of them" };
  return {
    about: "permissions",
    ok: false,
    detail: `the app lacks ${missing.map(({ anyOf, without }) => `${anyOf[0]} (${without})`).join(", ")}`,
    remedy: "Add them under Permissions & Scopes of the app, and publish a version of it.",
  };
}
