import type { Lease, SessionSeed, Store } from "../src/index.ts";

/** Bodies of the size that a normalised chat message, its turn and its reply have. */
const payload = {
  text: "x".repeat(300),
  raw: { sender: "ou_".padEnd(35, "a"), chat: "oc_".padEnd(35, "b") },
};
const userMessage = { role: "user", content: "y".repeat(700), timestamp: 1 };
const assistantMessage = {
  role: "assistant",
  content: [{ type: "text", text: "z".repeat(500) }],
  usage: { input: 1 },
};
const reply = { text: "z".repeat(500), replyTo: "om_".padEnd(35, "c") };

export interface Flow {
  /** Accepts a message and commits its reply; the receipt is written in the background. Four calls. */
  message(session: number): Promise<void>;
  /** Resolves when all receipts are written. */
  settled(): Promise<void>;
}

let counter = 0;

/** Creates an id without order, like those of Feishu. */
function platformId(prefix: string): string {
  counter += 1;
  const mixed = Math.imul(counter, 2654435761) >>> 0;
  return `${prefix}${mixed.toString(16).padStart(8, "0")}${counter.toString(16).padStart(24, "0")}`;
}

export function seedOf(session: number): SessionSeed {
  const peer = `ou_${String(session).padStart(8, "0")}`;
  const key = `agent:coder:feishu:main:direct:${peer}`;
  return { key, agentId: "coder", channel: "feishu", account: "main", peer, kind: "direct" };
}

/** Writes one message through the store, as a gateway does. */
export function flow(store: Store, lease: Lease): Flow {
  const receipts = new Set<Promise<void>>();
  return {
    async settled() {
      await Promise.all(receipts);
    },
    async message(session) {
      const seed = seedOf(session);
      const accepted = await store.inbox.accept({
        channel: "feishu",
        account: "main",
        eventId: platformId("ev"),
        messageId: platformId("om_"),
        kind: "message",
        conversationId: `oc_${session}`,
        senderId: seed.peer,
        payload,
        route: { agentId: "coder", sessionKey: seed.key },
      });
      if (accepted.outcome !== "accepted") throw new Error(`not accepted: ${accepted.outcome}`);
      const begun = await store.runs.begin({
        session: seed,
        lease,
        inboxIds: [accepted.id],
        userMessages: [userMessage],
        meta: { model: "anthropic/claude", address: `oc_${session}` },
      });
      if (begun.outcome !== "started") throw new Error("the session is busy");
      const [row] = await store.runs.finish({
        runId: begun.run.id,
        lease,
        outcome: "completed",
        inbox: [{ id: accepted.id, state: "replied" }],
        messages: [assistantMessage],
        outbox: [
          { channel: "feishu", account: "main", address: `oc_${session}`, payload: reply, claim: true },
        ],
        usage: { modelCalls: 1, inputTokens: 900, outputTokens: 120, costMicros: 4500 },
      });
      if (row === undefined) throw new Error("no outbox row");
      const sent = [{ part: 0, receipt: { messageId: platformId("om_") } }];
      const receipt = store.outbox.markSent(row.id, lease, sent).then(() => void receipts.delete(receipt));
      receipts.add(receipt);
    },
  };
}
