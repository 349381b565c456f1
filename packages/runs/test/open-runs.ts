import type { AgentMessage } from "@signalbox/agent-core";
import { openStore, parseId } from "@signalbox/store";
import type { Lease, RunId, SqliteStore } from "@signalbox/store/types";
import { onTestFinished } from "vitest";
import type { RunBodies } from "../src/store.ts";

/** A store in memory, with the steps that a host does around its runs. */
export interface OpenRuns {
  readonly store: SqliteStore<RunBodies>;
  readonly lease: Lease;
  /** Begins a run with these messages. */
  begin(sessionKey: string, messages: readonly AgentMessage[]): Promise<RunId>;
  /** Another process takes the lease and the run; writes under the old lease are refused afterwards. */
  takeOver(runId: RunId): Promise<Lease>;
  finish(runId: RunId, lease?: Lease): Promise<void>;
  /** Appends messages to a conversation outside any run. */
  append(sessionKey: string, messages: readonly AgentMessage[]): Promise<void>;
  /** Makes the next writes fail until it is called with `false`. */
  fail(on: boolean): void;
}

export async function openRuns(): Promise<OpenRuns> {
  let failing = false;
  const store = await openStore<RunBodies>({
    path: ":memory:",
    limits: { commitSpacingMs: 0 },
    faults() {
      if (failing) throw new Error("the disk is full");
    },
  });
  onTestFinished(() => store.close());
  const acquire = async (): Promise<Lease> => {
    const lease = await store.leases.acquire("gateway", "test", 60_000);
    if (lease === undefined) throw new Error("The lease of a new store is taken.");
    return lease;
  };
  const lease = await acquire();
  const toSeed = (key: string) => ({
    key,
    agentId: "main",
    channel: "web",
    account: "main",
    peer: "ann",
    kind: "direct",
  });
  return {
    store,
    lease,
    async begin(key, userMessages) {
      const begun = await store.runs.begin({ session: toSeed(key), lease, inboxIds: [], userMessages });
      if (begun.outcome !== "started") throw new Error(`Session ${key} is busy.`);
      return begun.run.id;
    },
    async takeOver(runId) {
      const next = await acquire();
      await store.runs.adopt({ runId, lease: next });
      return next;
    },
    async finish(runId, by = lease) {
      await store.runs.finish({ runId, lease: by, outcome: "completed", inbox: [] });
    },
    async append(key, messages) {
      await store.sessions.ensure(toSeed(key));
      await store.sessions.append(key, messages, lease);
    },
    fail(on) {
      failing = on;
    },
  };
}

/** An id of a run that no store knows. */
export function unknownRunId(): RunId {
  const id = parseId<RunId>("0".repeat(26));
  if (id === undefined) throw new Error("It is not an id.");
  return id;
}
