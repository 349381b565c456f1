import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ALL_SEATS } from "@signalbox/home";
import { openStore } from "@signalbox/store";
import type { GatewayBodies, GatewayStore } from "../../../src/store.ts";
import { createDelegation } from "../../../src/triggers/delegation.ts";
import { listScheduled } from "../../../src/triggers/list-scheduled.ts";
import type { GatewayChild } from "./child.ts";

/** Time limit for a gateway to come to rest, in milliseconds. Replies that failed wait up to five minutes. */
const REST_MS = 330_000;

interface RestOptions {
  readonly home: string;
  /** The address at which the gateway listens. */
  readonly url: string;
  readonly token: string;
  /** Time limit in milliseconds. Default: 330,000. */
  readonly restMs: number | undefined;
}

interface RestStatus {
  readonly messages: number;
  readonly replies: number;
}

/** The status of a gateway that did not answer. */
const UNKNOWN: RestStatus = { messages: Number.NaN, replies: Number.NaN };

/**
 * Waits until no message waits for its end, no reply for its delivery, and nothing is scheduled.
 *
 * @throws Error if the gateway ends before, or does not come to rest in time
 */
export async function waitForRest(gateway: GatewayChild, options: RestOptions): Promise<void> {
  const deadline = performance.now() + (options.restMs ?? REST_MS);
  for (let times = 0; ; ) {
    if (gateway.ended())
      throw new Error(
        `the gateway ended with ${JSON.stringify(await gateway.exited)} before it came to rest`,
      );
    // A request fails before the end of the process is known, and if its connection was idle for too long.
    const status = await readStatus(options).catch(() => UNKNOWN);
    const isIdle = status.messages === 0 && status.replies === 0;
    // To open the database takes much longer than to read the status.
    const waiting = { ...status, ...(isIdle ? { toCome: await countToComeIn(options.home) } : {}) };
    const isOver = Object.values(waiting).every((count) => count === 0);
    // What a message leads to may be read a moment too early.
    times = isOver ? times + 1 : 0;
    if (times === 2) return;
    if (performance.now() > deadline)
      throw new Error(`the gateway did not come to rest: ${JSON.stringify(waiting)} wait`);
    await sleep(50);
  }
}

async function readStatus({ url, token }: RestOptions): Promise<RestStatus> {
  const response = await fetch(`${url}/api/status`, { headers: { authorization: `Bearer ${token}` } });
  const status: unknown = await response.json();
  const { inboxPending, outboxPending } = status as { inboxPending: number; outboxPending: number };
  return { messages: inboxPending, replies: outboxPending };
}

async function countToComeIn(home: string): Promise<number> {
  const store = await openStore<GatewayBodies>({ path: join(home, "signalbox.db"), access: "read" });
  try {
    return await countToCome(store);
  } finally {
    await store.close();
  }
}

/** Returns the number of scheduled messages, and of tasks of sub-agents whose end was not reported. */
export async function countToCome(store: GatewayStore): Promise<number> {
  const logger = { warn: () => {} };
  const subAgents = createDelegation({ store, logger, now: Date.now, seats: ALL_SEATS });
  return (await listScheduled(store.kv)).length + (await subAgents.countOpen());
}
