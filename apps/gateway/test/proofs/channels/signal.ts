import { setTimeout as delay } from "node:timers/promises";
import { startSignal, textEnvelope } from "@signalbox/testkit/signal";
import type { KilledPlatform } from "./platform.ts";

const ACCOUNT = "+4915199999999";
/** Maximum number of people who write. */
const PEOPLE = 10_000;
const FIRST_MESSAGE = 1_760_000_000_000;

export async function startSignalPlatform(): Promise<KilledPlatform> {
  const uuid = (person: number): string => `11111111-aaaa-4aaa-8aaa-${String(person).padStart(12, "0")}`;
  const people = Array.from({ length: PEOPLE }, (_, person) => ({ uuid: uuid(person) }));
  const server = await startSignal({ account: ACCOUNT, people, receiveMode: "on-connection" });
  const inFlight = new Set<number>();
  const sent = (): string[] => server.sent.flatMap(({ texts }) => texts);
  return {
    channel: "signal",
    account: { account: ACCOUNT, baseUrl: server.url },
    findsNothing: true,
    async connect() {
      while (server.events.listeners === 0) await delay(5);
    },
    async deliver(person, text) {
      while (server.events.listeners === 0) await delay(5);
      const from = { uuid: uuid(person), name: `Person ${person}` };
      await server.push(textEnvelope(text, { from, timestamp: FIRST_MESSAGE + person }));
      // Nothing shows that the message was stored, so the person waits for the answer.
      while (!sent().some((answer) => answer.endsWith(` ${person};`))) {
        if (server.events.listeners === 0) return void inFlight.add(person);
        await delay(5);
      }
    },
    mayBeLost: (person) => inFlight.has(person),
    messageId: (person) => `${FIRST_MESSAGE + person}:${uuid(person)}`,
    sent,
    loseResponse: () => server.fail({ kind: "cut" }),
    stop: () => server.stop(),
  };
}
