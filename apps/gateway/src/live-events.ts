import { reasonOf } from "@signalbox/agent-core";
import type { Seats } from "@signalbox/home";
import type { Redact } from "@signalbox/redaction";
import { parseSessionKey } from "@signalbox/routing";
import {
  createLiveHub,
  createLiveRelay,
  type LiveHub,
  type LiveRelay,
  redactLiveErrors,
} from "@signalbox/server";
import type { Logger } from "@signalbox/telemetry/logger";
import { toRunEnd } from "./messages/run-ends.ts";
import type { ServiceStore } from "./messages/service-store.ts";
import type { GatewayStore } from "./store.ts";

interface LiveEventsOptions {
  readonly store: GatewayStore;
  readonly node: string;
  readonly seats: Seats;
  /** Removes secrets from a text. */
  readonly redact: Redact;
  readonly logger: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Number of a session's latest runs of which one may have ended unseen. */
const MAX_RUNS = 20;

/** Creates the hub of the viewers. If other gateways share the store, it also shows the runs of their agents. */
export function createLiveEvents({ store, node, seats, redact, logger, now }: LiveEventsOptions): {
  readonly live: LiveHub;
  readonly liveRelay: LiveRelay | undefined;
} {
  const own = createLiveHub((error) => logger.error({ err: reasonOf(error) }, "a viewer failed"));
  const liveRelay =
    store.liveEvents &&
    createLiveRelay({
      node,
      hub: own,
      store: store.liveEvents,
      hints: store.hints,
      isHere(sessionKey) {
        const agentId = parseSessionKey(sessionKey)?.agentId;
        return agentId === undefined || seats.isHere(agentId, sessionKey);
      },
      states: sessionStates(store),
      onError: (error) =>
        logger.warn({ err: reasonOf(error) }, "events of runs on other nodes are not shown at the moment"),
      now,
    });
  return { live: redactLiveErrors(liveRelay?.hub ?? own, redact), liveRelay };
}

function sessionStates({
  sessions,
  inbox,
  runs,
}: ServiceStore): Parameters<typeof createLiveRelay>[0]["states"] {
  return {
    async isBusy(sessionKey) {
      if ((await sessions.get(sessionKey))?.activeRun !== undefined) return true;
      const [accepted, queued] = await Promise.all([
        inbox.list({ sessionKey, state: "accepted", limit: 1 }),
        inbox.list({ sessionKey, state: "queued", limit: 1 }),
      ]);
      return accepted.length + queued.length > 0;
    },
    async getEnd(sessionKey, runId) {
      const ids = (await runs.list({ sessionKey, limit: MAX_RUNS })).flatMap(({ id }) =>
        id === runId ? [id] : [],
      );
      const [summary] = await runs.summaries(ids);
      const end = summary && toRunEnd(summary);
      const answers = summary?.inbox.flatMap(({ messageId }) => messageId ?? []);
      return end && { type: "run.end", runId, outcome: end.outcome, usage: end.usage, answers };
    },
  };
}
