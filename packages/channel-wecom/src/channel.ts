import {
  type Channel,
  type ChannelContext,
  ChannelError,
  type ChannelMethods,
  createWebhook,
  createWebhookMonitor,
  eventFacts,
  type HandleResult,
  type HostedAccount,
  hostedChannel,
  type Payload,
  rejectWebhook,
} from "@signalbox/channel";
import type { WecomAddress } from "./address.ts";
import { checkCallbacks, checkConnection } from "./checks.ts";
import { getBotId, type WecomConfig } from "./config.ts";
import { createLink } from "./connection/link.ts";
import { toMessageEvent } from "./inbound/message.ts";
import { createReceiver } from "./inbound/receive.ts";
import { createVerifier, isMessage } from "./inbound/webhook.ts";
import { limits } from "./limits.ts";
import { fetchMedia } from "./media.ts";
import { createDraft } from "./outbound/draft.ts";
import { reconcile } from "./outbound/reconcile.ts";
import { createResponseUrls } from "./outbound/response-urls.ts";
import { createSender } from "./outbound/send.ts";

type WecomMethods = Pick<
  Required<ChannelMethods<WecomAddress>>,
  "webhook" | "send" | "openDirect" | "openDraft" | "fetchMedia" | "checks" | "reconcile"
>;
type WecomChannel = Channel<WecomAddress> & WecomMethods;

/** Creates an account. */
export function createWecom(context: ChannelContext<WecomConfig>): WecomChannel {
  return context.config.transport === "socket"
    ? hostedChannel(context, openSocketAccount)
    : hostedChannel(context, openWebhookAccount);
}

function openSocketAccount(account: HostedAccount<WecomConfig>) {
  const { context } = account;
  const { clock } = context;
  const receiver = createReceiver(account);
  const link = createLink({
    context,
    onMessage: ({ body, reqId }) => receiver.accept({ body, reqId }),
    reconnected: receiver.missed,
  });
  const sender = createSender({ clock, link });
  const methods: WecomMethods = {
    webhook: async () => rejectWebhook(),
    send: (to, message, options) => sender.send(to, message, options),
    openDirect: async (userId) => ({ type: "single", id: userId }),
    openDraft: async (to, options) => createDraft({ clock, sender }, to, options),
    fetchMedia: (ref, signal) => fetchMedia(context, ref, signal),
    checks: async () => [checkConnection(link.health())],
    reconcile: (intent, signal) => reconcile({ clock, sender }, intent, signal),
  };
  return {
    async start(signal: AbortSignal) {
      await receiver.begin();
      await link.start(signal);
    },
    disconnect: () => link.stop(),
    close: () => receiver.end(),
    connection: () => link.health(),
    self: () => ({ id: getBotId(context.config) }),
    methods,
  };
}

function openWebhookAccount({ context }: HostedAccount<WecomConfig>) {
  const { config, logger } = context;
  const verifier = createVerifier(context);
  const responseUrls = createResponseUrls(context);

  async function handle(callback: Payload): Promise<HandleResult> {
    if (!isMessage(callback)) return "ignored";
    const event = toMessageEvent({ body: callback }, eventFacts(context, getBotId(config)), config.name);
    if (event === undefined) return "malformed";
    // Stored first: the answer may be ready before the host has confirmed the event.
    await responseUrls.remember(callback);
    return context.emit(event);
  }

  const monitor = createWebhookMonitor("WeCom", context);
  const webhook = createWebhook({
    maxBytes: limits.bodyBytes,
    verify: verifier.verify,
    challenge: verifier.challenge,
    handle,
    // WeCom would show a reply in the response. An empty one means that none follows here.
    accepted: () => new Response(),
    monitor,
    logger,
  });
  const methods: WecomMethods = {
    webhook,
    send: (_to, message, options) => responseUrls.send(message, options),
    openDirect: async (userId) => ({ type: "single", id: userId }),
    async openDraft() {
      throw new ChannelError("unsupported", "WeCom: the webhook transport has no drafts");
    },
    fetchMedia: (ref, signal) => fetchMedia(context, ref, signal),
    checks: (signal) => checkCallbacks(context, monitor, signal),
    reconcile: async () => ({ outcome: "unknown" }),
  };
  return { connection: () => monitor.health(), self: () => ({ id: getBotId(config) }), methods };
}
