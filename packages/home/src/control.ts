import { randomUUID } from "node:crypto";
import type { Hints, JsonValue, KvStore } from "@signalbox/store";
import { z } from "zod";

/** A request to the node that runs an agent, for example to stop a session. */
export interface ControlRequest {
  readonly id: string;
  readonly agentId: string;
  readonly sessionKey: string;
  readonly body: JsonValue;
}

/**
 * Requests between gateways that share a store. The receiver executes a request before it removes it, so that a crash
 * in between repeats the request. Requests must therefore be idempotent.
 */
export interface Control {
  /** Stores a request for the node that runs the agent, and returns its id. */
  send(request: Omit<ControlRequest, "id">): Promise<string>;
  /**
   * Waits for the result of a request.
   *
   * @returns undefined if the request was not executed in time. It may still be executed later.
   */
  wait(id: string, timeoutMs?: number): Promise<{ readonly result: JsonValue } | undefined>;
  /**
   * Executes pending requests of the agents that run here, oldest first. Calls are queued.
   *
   * @param run returns undefined if the request must be repeated later
   */
  execute(
    isHere: (request: ControlRequest) => boolean,
    run: (request: ControlRequest) => Promise<JsonValue | undefined>,
  ): Promise<void>;
}

interface ControlOptions {
  readonly kv: Pick<KvStore, "get" | "set" | "delete" | "list">;
  readonly hints: Pick<Hints, "send">;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Called each time a request fails. After several failures, its result is `null`. */
  readonly onFailure: (request: ControlRequest, error: unknown) => void;
}

const REQUESTS = "control";
const RESULTS = "control-results";
/** Time after which a request or its result is removed, in milliseconds. */
const TTL_MS = 60 * 60_000;
const WAIT_MS = 10_000;
const POLL_MS = 100;
/** Number of failures after which a request is given up. */
const MAX_FAILURES = 5;

const requestSchema = z.object({ agentId: z.string(), sessionKey: z.string(), body: z.json() });

export function createControl({ kv, hints, now, onFailure }: ControlOptions): Control {
  let last = 0;
  let executing: Promise<unknown> = Promise.resolve();
  const failures = new Map<string, number>();

  async function executeAll(
    isHere: (request: ControlRequest) => boolean,
    run: (request: ControlRequest) => Promise<JsonValue | undefined>,
  ): Promise<void> {
    for (const { key: id, value } of await kv.list(REQUESTS)) {
      const { data } = requestSchema.safeParse(value);
      const request = data && { id, ...data };
      if (request === undefined || !isHere(request)) continue;
      const result = await run(request).catch((error: unknown) => {
        onFailure(request, error);
        const count = (failures.get(id) ?? 0) + 1;
        failures.set(id, count);
        return count < MAX_FAILURES ? undefined : null;
      });
      if (result === undefined) continue;
      failures.delete(id);
      await kv.set(RESULTS, id, { result }, TTL_MS);
      await kv.delete(REQUESTS, id);
    }
  }

  return {
    async send({ agentId, sessionKey, body }) {
      // Requests are executed in the order of their ids.
      last = Math.max(last + 1, now());
      const id = `${String(last).padStart(15, "0")} ${randomUUID()}`;
      await kv.set(REQUESTS, id, { agentId, sessionKey, body }, TTL_MS);
      hints.send(agentId);
      return id;
    },
    async wait(id, timeoutMs = WAIT_MS) {
      const limit = AbortSignal.timeout(timeoutMs);
      for (;;) {
        const stored = z.object({ result: z.json() }).safeParse(await kv.get(RESULTS, id)).data;
        if (stored !== undefined) {
          await kv.delete(RESULTS, id);
          return stored;
        }
        if (limit.aborted) return undefined;
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      }
    },
    execute(isHere, run) {
      const done = executing.then(() => executeAll(isHere, run));
      executing = done.catch(() => {});
      return done;
    },
  };
}
