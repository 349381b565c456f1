import type { CompactionCache } from "@signalbox/agent-core";
import type { RunHandle } from "@signalbox/lanes";
import type { Histories, WaitingRuns } from "@signalbox/runs";
import type { InterruptedRun, RunId } from "@signalbox/store";
import type { Logger } from "@signalbox/telemetry/logger";
import type { Flush } from "../agent/memories.ts";
import type { Spending } from "../agent/spending.ts";
import type { Agent, Agents } from "../configure/agents.ts";
import type { Models } from "../configure/models.ts";
import type { Standing } from "../pipeline/2-admit/standing.ts";
import type { Queued, QueuedMessage } from "../pipeline/4-queue/message.ts";
import type { BegunRun } from "../pipeline/5-prepare/opened-run.ts";
import { type Conclusion, STOPPED_RUN } from "../pipeline/7-conclude/commit.ts";
import type { Refuse } from "../pipeline/7-conclude/refuse.ts";
import { ShutdownAbort } from "../shutdown.ts";
import type { GatewayBodies, GatewayStore } from "../store.ts";
import type { Toolbox } from "../tools/toolbox.ts";
import type { Order } from "./read.ts";
import type { SettlePorts } from "./settle.ts";

export interface InTurnPorts extends SettlePorts {
  readonly store: Pick<GatewayStore, "inbox" | "outbox" | "sessions" | "runs">;
  readonly agents: Pick<Agents, "get">;
  readonly refuse: Refuse;
  readonly histories: Pick<Histories, "load" | "forget">;
  readonly models: Pick<Models, "of">;
  readonly toolbox: Pick<Toolbox, "forRun" | "endCommands">;
  readonly standing: Standing;
  readonly waitingRuns: Pick<WaitingRuns, "of">;
  readonly compactionCache: CompactionCache;
  readonly flush: Flush;
  readonly spending: Pick<Spending, "forMessage">;
  /** Commits the end of a run, and lets it be delivered. */
  readonly finish: (run: BegunRun, conclusion: Conclusion) => Promise<void>;
  readonly logger: Logger;
}

/** A command that has its place in the conversation now. */
export interface InTurn {
  readonly message: QueuedMessage;
  readonly agent: Agent;
  /** Absent where its message is no order any more: its skill is gone, for instance. */
  readonly order: Order | undefined;
  readonly handle: RunHandle<Queued>;
}

/** A command's run: nothing of it becomes history, but what it does is journalled as a turn's doings are. */
export interface CommandRun extends InTurn {
  readonly runId: RunId;
  readonly name: string;
  /** What an earlier process left, if the run continues. */
  readonly before?: InterruptedRun<GatewayBodies>;
}

export function begunRun({ runId, message, handle }: CommandRun): BegunRun {
  return { runId, sessionKey: message.sessionKey, messages: [message], handle };
}

/** Ends a command with what it says. */
export async function endCommand(
  options: InTurnPorts,
  run: CommandRun,
  said: string,
  more: Pick<Conclusion, "used"> = {},
): Promise<void> {
  const { agentId, sessionKey, stored } = run.message;
  const asked = { agentId, sessionKey, event: stored.event, source: "command", text: said } as const;
  const { text } = await options.hooks.modify("before_reply", asked);
  const silent = text === "";
  await options.finish(begunRun(run), {
    ...more,
    outcome: "completed",
    rule: `command:${run.name}`,
    state: silent ? "silent" : "replied",
    reply: silent ? { text, silent } : { text, silent, note: text },
    end: silent ? "silent" : "replied",
  });
}

/** Ends a command that was stopped; one that the gateway's own end stopped is left for the next start. */
export async function stopCommand(options: InTurnPorts, run: CommandRun): Promise<void> {
  if (run.handle.signal.reason instanceof ShutdownAbort) return leaveOpen(options, run);
  await options.finish(begunRun(run), STOPPED_RUN);
}

/** The next start continues it. */
export function leaveOpen({ tracer }: InTurnPorts, { message }: CommandRun): void {
  tracer.note(message.id, "lane", "stopped with the gateway; goes on at the next start");
}
