import {
  type Channel,
  type ChannelContext,
  ChannelError,
  type ChannelMethods,
  createWebhookMonitor,
  type HostedAccount,
  hostedChannel,
  type Identity,
  isChannelError,
  sendParts,
  textAt,
} from "@signalbox/channel";
import { addressCodec, type WhatsAppAddress } from "./address.ts";
import { createApi } from "./api.ts";
import { checkAccount } from "./checks.ts";
import type { WhatsAppConfig } from "./config.ts";
import { createReceiver } from "./inbound/receive.ts";
import { createEventWebhook } from "./inbound/webhook.ts";
import { limits } from "./limits.ts";
import { fetchMedia, uploadPart } from "./media.ts";
import { renderPart } from "./outbound/render.ts";
import { createStatuses } from "./outbound/statuses.ts";

type WhatsAppMethods = Required<
  Pick<
    ChannelMethods<WhatsAppAddress>,
    "webhook" | "send" | "react" | "typing" | "openDirect" | "fetchMedia" | "checks" | "reconcile"
  >
>;
type WhatsAppChannel = Channel<WhatsAppAddress> & WhatsAppMethods;

/** Creates an account. */
export function createWhatsApp(context: ChannelContext<WhatsAppConfig>): WhatsAppChannel {
  return hostedChannel(context, openAccount);
}

function openAccount({ context }: HostedAccount<WhatsAppConfig>) {
  const { config } = context;
  const api = createApi(context);
  const statuses = createStatuses(context);
  const lastMessages = createLastMessages();
  const receive = createReceiver(context, statuses, lastMessages.add);
  const monitor = createWebhookMonitor("WhatsApp", context);
  let self: Identity | undefined;

  const methods: WhatsAppMethods = {
    webhook: createEventWebhook(context, receive, monitor),

    send: (to, message, options) =>
      sendParts(message, options, async ({ part, key, replyTo }) => {
        const content = part.type === "media" ? await uploadPart(api, part, options) : renderPart(part);
        return api.send(to, content, { key, replyTo, signal: options.signal });
      }),

    react: (to, messageId, { emoji, on }, signal) => api.react(to, messageId, on ? emoji : "", signal),

    // The indicator refers to a message of the person, and disappears with the answer or after 25 seconds.
    async typing(to, { on, messageId }, signal) {
      const about = messageId ?? lastMessages.get(addressCodec.encode(to));
      if (on && about !== undefined) await api.showTyping(about, signal);
    },

    // The id of a direct conversation is the id of the person.
    openDirect: async (userId) => addressCodec.decode(`whatsapp:${userId}`),

    fetchMedia: (ref, signal) => fetchMedia(api, config.apiBaseUrl, ref, signal),
    checks: async (signal) => [...(await checkAccount(context, api, signal)), monitor.check()],
    reconcile: (intent) => statuses.find(intent),
  };

  return {
    /** Checks the credentials, and learns the name of the business. */
    async start(signal: AbortSignal) {
      const fields = { fields: "display_phone_number,verified_name" };
      const number = await api
        .read("checking the credentials", config.phoneNumberId, fields, signal)
        .catch(rethrowUnknownNumber);
      self = { id: config.phoneNumberId, name: textAt(number, "verified_name") };
    },
    connection: () => monitor.health(),
    self: () => self,
    methods,
  };
}

/** Adds the settings to an error of a number that Meta does not find, or that the token may not use. */
function rethrowUnknownNumber(error: unknown): never {
  if (!isChannelError(error) || !["not_found", "invalid"].includes(error.code)) throw error;
  const { code, message, platformCode } = error;
  throw new ChannelError(code, message, {
    scope: "account",
    platformCode,
    settings: ["phoneNumberId", "accessToken"],
    cause: error,
  });
}

/** Remembers the last message of a person in each conversation. */
function createLastMessages() {
  const byAddress = new Map<string, string>();
  return {
    get: (address: string): string | undefined => byAddress.get(address),
    add(address: string, messageId: string): void {
      byAddress.delete(address);
      byAddress.set(address, messageId);
      const oldest = byAddress.size > limits.remembered ? byAddress.keys().next().value : undefined;
      if (oldest !== undefined) byAddress.delete(oldest);
    },
  };
}
