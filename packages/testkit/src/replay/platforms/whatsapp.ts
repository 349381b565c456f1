import { changePayload, startWhatsApp, textMessage } from "../../whatsapp/index.ts";
import type { PlatformEvent } from "../scenario.ts";
import type { StartPlatform } from "./platform.ts";

const SECRETS = {
  accessToken: "fake-access-token",
  appSecret: "fake-app-secret",
  verifyToken: "fake-verify-token",
};

/** WhatsApp, which posts signed events to the gateway after a challenge. */
export const startWhatsAppPlatform: StartPlatform = async (scenario) => {
  const whatsapp = await startWhatsApp(SECRETS);
  const names = new Map(Object.entries(scenario.people["whatsapp"] ?? {}));
  return {
    env: {
      WHATSAPP_URL: whatsapp.url,
      WHATSAPP_ACCESS_TOKEN: SECRETS.accessToken,
      WHATSAPP_APP_SECRET: SECRETS.appSecret,
      WHATSAPP_VERIFY_TOKEN: SECRETS.verifyToken,
      WHATSAPP_PHONE_NUMBER_ID: whatsapp.phoneNumberId,
    },
    async post(event, { url }) {
      const webhook = `${url}/channels/whatsapp/${event.account}/events`;
      await whatsapp.subscribe(webhook);
      const sent = payloadOf(event, names);
      const response = await fetch(webhook, whatsapp.sign(sent));
      await response.text();
      return { sent, status: response.status };
    },
    sent: () =>
      whatsapp.sent.map(({ body }) => ({
        channel: "whatsapp",
        method: "POST",
        path: "/messages",
        body: JSON.stringify(body),
      })),
    stop: () => whatsapp.stop(),
  };
};

/** `body` of an event is the value of a change. */
function payloadOf(
  event: PlatformEvent,
  names: ReadonlyMap<string, string>,
): Readonly<Record<string, unknown>> {
  if (event.body !== undefined) return changePayload({ ...event.body });
  const { messageId, chatId, sender = "16505551234", text = "" } = event;
  const from = { id: sender, name: names.get(sender) ?? sender };
  const group = event.chatType === "group" ? { fields: { group_id: chatId ?? "Y2FwaV9ncm91cA" } } : {};
  return textMessage(text, { from, id: messageId, ...group });
}
