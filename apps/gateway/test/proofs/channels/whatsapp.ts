import { setTimeout as delay } from "node:timers/promises";
import { startWhatsApp, textMessage } from "@signalbox/testkit/whatsapp";
import type { KilledPlatform } from "./platform.ts";

const SECRETS = {
  accessToken: "EAAG-token-of-the-proof",
  appSecret: "secret-of-the-proof",
  verifyToken: "verify-token-of-the-proof",
};

export async function startWhatsAppPlatform(): Promise<KilledPlatform> {
  const server = await startWhatsApp(SECRETS);
  const messageId = (person: number): string => `wamid.of-person-${person}`;
  return {
    channel: "whatsapp",
    account: { ...SECRETS, phoneNumberId: server.phoneNumberId, apiBaseUrl: server.url },
    async connect(url) {
      const webhook = `${url}/channels/whatsapp/main/events`;
      while (!(await server.subscribe(webhook).catch(() => false))) await delay(20);
    },
    async deliver(person, text) {
      const from = { id: String(16_500_000_000 + person), name: `Person ${person}` };
      await server.push(textMessage(text, { id: messageId(person), from }));
    },
    messageId,
    sent: () => server.sent.map(({ text }) => text),
    loseResponse: () => server.fail({ kind: "cut" }),
    stop: () => server.stop(),
  };
}
