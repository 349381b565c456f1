import type { AgentMessage } from "@signalbox/agent-core";
import type { DeliveryMessage, NoteStore, OutboxStore } from "@signalbox/delivery";
import { outboxConformance } from "@signalbox/delivery/testkit";
import type { RouteCacheStore } from "@signalbox/routing";
import { runRouteCacheConformance } from "@signalbox/routing/testkit";
import type { ConversationStore, JournalStore } from "@signalbox/runs";
import { journalConformance } from "@signalbox/runs/testkit";
import { accessConformance } from "@signalbox/server/testkit";
import type { Approval, ApprovalStore } from "@signalbox/tools";
import { approvalStoreConformance } from "@signalbox/tools/testkit";
import { describe, expect, test } from "vitest";
import { type Bodies, openStore } from "../src/index.ts";
import { auditConformance } from "../src/testkit/audit.ts";
import { ledgerConformance } from "../src/testkit/budgets.ts";
import { storeConformance } from "../src/testkit/index.ts";
import { takeLease } from "./support.ts";

interface TestBodies extends Bodies {
  readonly message: AgentMessage;
  readonly outbound: DeliveryMessage;
  readonly approval: Approval;
}

async function open() {
  const time = { now: Date.UTC(2026, 10, 21, 12) };
  const store = await openStore<TestBodies>({ path: ":memory:", clock: () => time.now });
  return { store, time };
}

describe("what a gateway asks of its store", () => {
  storeConformance(test, async () => {
    const time = { now: Date.UTC(2026, 10, 21, 12) };
    return {
      store: await openStore({ path: ":memory:", clock: () => time.now }),
      now: () => time.now,
      advance: (ms) => {
        time.now += ms;
      },
    };
  });
});

describe("what delivery asks of an outbox", () => {
  outboxConformance(test, async () => {
    const { store, time } = await open();
    const outbox: OutboxStore = store.outbox;
    return {
      outbox,
      lease: await takeLease(store),
      takeOver: () => takeLease(store),
      advance: (ms) => {
        time.now += ms;
      },
      now: () => time.now,
      toldIn: (conversation) => store.groupHistory.list(conversation),
    };
  });

  test("its notes are values with a name", async () => {
    const { store } = await open();
    const notes: NoteStore = store.kv;
    expect(notes).toBe(store.kv);
  });
});

describe("what the server asks of what it keeps of its clients", () => {
  accessConformance(test, async () => (await open()).store.access);
});

describe("what is asked of an audit log", () => {
  auditConformance(test, async () => (await open()).store.audit);

  test("an entry shares the commit of the write behind it", async () => {
    const { store } = await open();
    const before = (await store.maintenance.stats()).commits;
    for (let decision = 0; decision < 20; decision += 1) {
      const noted = store.audit.append({ ...entry, at: decision });
      await store.kv.set("test", "decision", decision);
      await noted;
    }
    // One that waits for its turn on a busy machine may come a commit later.
    expect((await store.maintenance.stats()).commits - before).toBeLessThan(30);
  });
});

const entry = { kind: "tool", action: "allowed", actor: "policy", subject: "exec" } as const;

describe("what budgets ask of a ledger", () => {
  ledgerConformance(test, async () => {
    const { store } = await open();
    return {
      ledger: store.budgets.ledger(await takeLease(store)),
      takeOver: async () => store.budgets.ledger(await takeLease(store)),
    };
  });
});

describe("what tools ask of a store of approvals", () => {
  approvalStoreConformance(test, async () => {
    const { store } = await open();
    const approvals: ApprovalStore = store.approvals;
    return approvals;
  });
});

describe("what runs ask of a journal", () => {
  journalConformance(test, async () => {
    const { store } = await open();
    const runs: JournalStore = store.runs;
    const sessions: ConversationStore = store.sessions;
    let lease = await takeLease(store);
    const idOf = async (runId: string) => {
      const run = (await store.runs.list()).find(({ id }) => id === runId);
      if (run === undefined) throw new Error(`there is no run ${runId}`);
      return run.id;
    };
    return {
      runs,
      sessions,
      get lease() {
        return lease;
      },
      async begin(key, userMessages) {
        const session = {
          key,
          agentId: "main",
          channel: "web",
          account: "main",
          peer: "ann",
          kind: "direct",
        };
        const begun = await store.runs.begin({ session, lease, inboxIds: [], userMessages });
        return begun.run.id;
      },
      async takeOver(runId) {
        lease = await takeLease(store);
        await store.runs.adopt({ runId: await idOf(runId), lease });
        return lease;
      },
      async finish(runId) {
        await store.runs.finish({ runId: await idOf(runId), lease, outcome: "completed", inbox: [] });
      },
    };
  });
});

describe("what routing asks of a cache", () => {
  runRouteCacheConformance({
    test: { describe, it: test },
    async open() {
      const { store } = await open();
      const cache: RouteCacheStore = store.routes;
      return cache;
    },
  });
});
