import { setTimeout as delay } from "node:timers/promises";
import { startWecom, textMessage } from "@signalbox/testkit/wecom";
import type { KilledPlatform } from "./platform.ts";

const SECRETS = { botId: "aib-bot-of-the-proof", secret: "secret-of-the-proof" };

export async function startWecomPlatform(): Promise<KilledPlatform> {
  const server = await startWecom(SECRETS);
  const createTime = Math.floor(Date.now() / 1_000);
  const inFlight = new Set<number>();
  const sent = (): string[] => server.sent.map(({ shown }) => shown.at(-1) ?? "");
  return {
    channel: "wecom",
    account: { ...SECRETS, wsUrl: server.wsUrl, apiBaseUrl: server.url },
    async connect() {
      while (server.connections() === 0) await delay(5);
    },
    async deliver(person, text) {
      const message = textMessage(text, { msgid: `m-${person}`, from: `person-${person}`, createTime });
      while (!server.pushMessage(message, `req-${person}`)) await delay(5);
      // Nothing shows that the message was stored, so the person waits for the answer.
      while (!sent().some((answer) => answer.endsWith(` ${person};`))) {
        if (server.connections() === 0) return void inFlight.add(person);
        await delay(5);
      }
    },
    mayBeLost: (person) => inFlight.has(person),
    messageId: (person) => `m-${person}:req-${person}:${createTime.toString(36)}`,
    sent,
    loseResponse: () => server.fail({ kind: "cut" }),
    stop: () => server.stop(),
  };
}
