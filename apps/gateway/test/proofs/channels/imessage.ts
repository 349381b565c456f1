import { setTimeout as delay } from "node:timers/promises";
import { FakeMessages, startBlueBubbles, startImsg } from "@signalbox/testkit/imessage";
import type { KilledPlatform } from "./platform.ts";

/** Maximum time for which a person waits for the answer, in milliseconds. */
const PATIENCE_MS = 3_000;

export async function startImsgPlatform(): Promise<KilledPlatform> {
  const messages = new FakeMessages();
  const imsg = await startImsg({ messages });
  return {
    ...createPlatform(messages),
    account: { command: imsg.command },
    async connect() {
      while (imsg.running().subscriptions === 0) await delay(5);
    },
    loseResponse: () => imsg.fail({ kind: "cut" }),
    stop: () => imsg.stop(),
  };
}

export async function startBlueBubblesPlatform(): Promise<KilledPlatform> {
  const messages = new FakeMessages();
  const server = await startBlueBubbles({ messages, password: "secret" });
  return {
    ...createPlatform(messages),
    account: { baseUrl: server.url, password: "secret" },
    async connect() {
      const seen = server.requests.length;
      while (!server.requests.slice(seen).some(({ text }) => text.includes("message.ROWID"))) await delay(5);
    },
    loseResponse: () => server.fail({ kind: "cut" }),
    stop: () => server.stop(),
  };
}

function createPlatform(
  messages: FakeMessages,
): Pick<KilledPlatform, "channel" | "deliver" | "messageId" | "sent"> {
  const guid = (person: number): string => `00000000-0000-4000-8000-${String(person).padStart(12, "0")}`;
  const sent = (): string[] => messages.sent.map(({ text }) => text);
  return {
    channel: "imessage",
    // A row that is in the database counts as acknowledged. People wait for the answer, so that not all write at once.
    async deliver(person, text) {
      messages.say(text, { guid: guid(person), sender: `+49151${String(person).padStart(8, "0")}` });
      const deadline = performance.now() + PATIENCE_MS;
      while (performance.now() < deadline && !sent().some((answer) => answer.endsWith(` ${person};`)))
        await delay(10);
    },
    messageId: guid,
    sent,
  };
}
