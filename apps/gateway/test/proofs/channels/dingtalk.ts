import { setTimeout as delay } from "node:timers/promises";
import { startDingTalk, textMessage } from "@signalbox/testkit/dingtalk";
import type { KilledPlatform } from "./platform.ts";

const CREDENTIALS = { clientId: "dingproof", clientSecret: "secret-of-the-proof-0123456789" };
/** Maximum number of people who write. */
const PEOPLE = 10_000;

export async function startDingTalkPlatform(): Promise<KilledPlatform> {
  const users = Array.from({ length: PEOPLE }, (_, person) => `staff${person}`);
  const server = await startDingTalk({ ...CREDENTIALS, users });
  const conversationId = (person: number): string => `cidOfPerson${person}`;
  const msgId = (person: number): string => `msgOfPerson${person}`;
  return {
    channel: "dingtalk",
    account: { ...CREDENTIALS, apiBaseUrl: server.url },
    findsNothing: true,
    async connect() {
      while (server.stream.count() === 0) await delay(20);
    },
    async deliver(person, text) {
      const sender = { staffId: `staff${person}`, id: `$:LWCP_v1:$${person}`, nick: `Person ${person}` };
      const message = textMessage(text, {
        msgId: msgId(person),
        conversationId: conversationId(person),
        sender,
      });
      const push = () =>
        server.stream.push(message, { messageId: msgId(person), withinMs: 1_000 }).catch(() => false);
      while (!(await push())) await delay(20);
    },
    messageId: (person) => `${conversationId(person)}:${msgId(person)}`,
    sent: () => server.sent.filter(({ isRecalled }) => !isRecalled).map(({ text }) => text),
    loseResponse: () => server.fail({ kind: "cut" }),
    stop: () => server.stop(),
  };
}
