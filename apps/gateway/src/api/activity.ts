import type { Activity, ActivityCall, ActivityCommand, LiveEvent, ScheduleInfo } from "@signalbox/protocol";
import type { LiveHub } from "@signalbox/server";
import { escapeInvisible } from "@signalbox/tools";
import type { ServiceStore } from "../messages/service-store.ts";
import { messageInfo } from "../messages/traces.ts";

const MAX_ARGS_CHARS = 300;
const MAX_SCHEDULES = 50;

/** A background command. */
interface RunningCommand {
  readonly id: string;
  readonly sessionKey: string;
  readonly command: string;
  readonly startedAt: number;
}

export interface ActivityPorts {
  readonly store: ServiceStore;
  readonly live: LiveHub;
  readonly commands: () => readonly RunningCommand[];
  readonly schedules: () => Promise<readonly ScheduleInfo[]>;
  /** Removes secrets from the arguments of commands and tool calls. */
  readonly redact: (text: string) => string;
}

/** Returns the gateway's current activity and its queues. */
export async function readActivity(ports: ActivityPorts): Promise<Activity> {
  const { store, live, redact } = ports;
  const [runs, accepted, queued, schedules] = await Promise.all([
    store.runs.active(),
    store.inbox.list({ state: "accepted" }),
    store.inbox.list({ state: "queued" }),
    ports.schedules(),
  ]);
  const shown = (text: string): string => escapeInvisible(redact(text));
  return {
    runs: runs.map(({ id, sessionKey, agentId, startedAt }) => ({
      runId: id,
      sessionKey,
      agent: agentId,
      startedAt,
      calls: callsIn(live.running(sessionKey), id, shown),
    })),
    waiting: [...accepted, ...queued]
      .map((row) => messageInfo(row, new Map()))
      .toSorted((a, b) => a.at - b.at),
    commands: ports.commands().map(
      ({ id, sessionKey, command, startedAt }): ActivityCommand => ({
        id,
        sessionKey,
        command: shown(command),
        startedAt,
      }),
    ),
    schedules: schedules.slice(0, MAX_SCHEDULES),
  };
}

/** Returns a run's tool calls, based on the events that viewers received. */
function callsIn(
  events: readonly LiveEvent[],
  runId: string,
  shown: (text: string) => string,
): ActivityCall[] {
  const calls = new Map<string, ActivityCall>();
  for (const event of events) {
    if (event.type === "tool.start" && event.runId === runId) {
      const { id, name, args } = event.call;
      const text = shown(JSON.stringify(args) ?? "").slice(0, MAX_ARGS_CHARS);
      calls.set(id, { id, name, state: "running", args: text });
    }
    if (event.type === "tool.end") {
      const { id, isError, durationMs } = event.call;
      const call = calls.get(id);
      if (call !== undefined) calls.set(id, { ...call, state: isError ? "failed" : "done", durationMs });
    }
  }
  return [...calls.values()];
}
