// Works on the database named on the command line until it is killed, and says what was acknowledged, a line each.
// Usage: node worker.ts <path> <seed>
import fs from "node:fs";
import { type Lease, openStore, type Store } from "@signalbox/store";

const path = String(process.argv[2]);
const prefix = String(process.argv[3]);

/** Written at once: what is in the pipe survives us. */
function say(line: string): void {
  fs.writeSync(1, `${line}\n`);
}

async function answer(store: Store, lease: Lease, key: string, text: string): Promise<void> {
  const accepted = await store.inbox.accept({
    channel: "c",
    account: "a",
    eventId: `e-${text}`,
    messageId: `m-${text}`,
    kind: "message",
    conversationId: key,
    senderId: "u",
    payload: { text },
    route: { agentId: "coder", sessionKey: key },
  });
  if (accepted.outcome !== "accepted") throw new Error(accepted.outcome);
  say(`accepted ${text}`);
  const session = { key, agentId: "coder", channel: "c", account: "a", peer: key, kind: "direct" };
  const begun = await store.runs.begin({
    session,
    lease,
    inboxIds: [accepted.id],
    userMessages: [`in ${text}`],
  });
  if (begun.outcome !== "started") throw new Error(begun.outcome);
  const write = { runId: begun.run.id, lease };
  const intents = [{ callId: "c1", name: "t", args: {}, effects: "external" }] as const;
  await store.runs.step({ ...write, messages: [`call ${text}`], intents });
  await store.runs.toolStarted({ ...write, callIds: ["c1"] });
  await store.runs.toolResults({ ...write, callIds: ["c1"], messages: [`result ${text}`] });
  const [row] = await store.runs.finish({
    ...write,
    outcome: "completed",
    inbox: [{ id: accepted.id, state: "replied" }],
    messages: [`out ${text}`],
    outbox: [{ channel: "c", account: "a", address: key, payload: text, claim: true }],
    usage: { costMicros: 1 },
  });
  say(`finished ${text}`);
  if (row?.state !== "sending") return;
  await store.outbox.markSent(row.id, lease, [{ part: 0, receipt: text }]);
  say(`sent ${text}`);
}

const store = await openStore({ path });
const lease = await store.leases.acquire("gateway", "home", 30_000);
if (lease === undefined) throw new Error("no lease");

// First what the life before left: interrupted runs are given up, so that their sessions are free again.
for (const { run, inbox } of await store.runs.interrupted()) {
  await store.runs.adopt({ runId: run.id, lease });
  await store.runs.finish({
    runId: run.id,
    lease,
    outcome: "aborted",
    inbox: inbox.map(({ id }) => ({ id, state: "failed-reported" })),
  });
}
say("ready");
await Promise.all(
  Array.from({ length: 8 }, async (_, session) => {
    for (let i = 0; ; i += 1) {
      await answer(store, lease, `s${session}`, `${prefix}-${session}-${i}`);
      // Often enough for a kill to fall into it, and for the log to begin anew.
      if (session === 0 && i % 4 === 3) await store.admin.checkpoint();
    }
  }),
);
