import type { RunHandle } from "@signalbox/lanes";
import type { InterruptedRun, RunId } from "@signalbox/store";
import type { Order } from "../../command-syntax/read.ts";
import type { Agent } from "../../configure/agents.ts";
import type { GatewayContext } from "../../context.ts";
import type { Queued, QueuedMessage } from "../../messages/queued-message.ts";
import { ShutdownAbort } from "../../shutdown.ts";
import type { GatewayBodies } from "../../store.ts";
import type { BegunRun } from "../5-prepare/opened-run.ts";
import { type Conclusion, commit, STOPPED_RUN } from "../7-conclude/commit.ts";
import { deliver } from "../8-deliver/deliver.ts";

/** A command whose turn in the lane has come. */
export interface InTurn {
  readonly message: QueuedMessage;
  readonly agent: Agent;
  /** Absent if the message is no longer a command, for example because its skill was removed. */
  readonly order: Order | undefined;
  readonly handle: RunHandle<Queued>;
}

/**
 * A command's run. It adds nothing to the history, but its effects are recorded in the journal like those of a turn.
 */
export interface CommandRun extends InTurn {
  readonly runId: RunId;
  readonly name: string;
  /** Journal entries from an earlier process, if the command is resumed. */
  readonly before?: InterruptedRun<GatewayBodies>;
}

export function begunRun({ runId, message, handle }: CommandRun): BegunRun {
  return { runId, sessionKey: message.sessionKey, messages: [message], handle };
}

/** Commits the end of a command's run and delivers its answer. */
export async function finish(ctx: GatewayContext, run: BegunRun, conclusion: Conclusion): Promise<void> {
  deliver(ctx, await commit(ctx, run, conclusion));
}

/** Ends a command with its answer. */
export async function endCommand(
  ctx: GatewayContext,
  run: CommandRun,
  said: string,
  more: Pick<Conclusion, "used"> = {},
): Promise<void> {
  const { agentId, sessionKey, stored } = run.message;
  const asked = { agentId, sessionKey, event: stored.event, source: "command", text: said } as const;
  const { text } = await ctx.hooks.modify("before_reply", asked);
  const silent = text === "";
  await finish(ctx, begunRun(run), {
    ...more,
    outcome: "completed",
    rule: `command:${run.name}`,
    state: silent ? "silent" : "replied",
    reply: silent ? { text, silent } : { text, silent, note: text },
    end: silent ? "silent" : "replied",
  });
}

/** Ends a stopped command. If the gateway itself stops, the command is left to the next start. */
export async function stopCommand(ctx: GatewayContext, run: CommandRun): Promise<void> {
  if (run.handle.signal.reason instanceof ShutdownAbort) return leaveOpen(ctx, run);
  await finish(ctx, begunRun(run), STOPPED_RUN);
}

/** Leaves the command open, so that the next start continues it. */
export function leaveOpen({ tracer }: GatewayContext, { message }: CommandRun): void {
  tracer.note(message.id, "run", "stopped with the gateway; continues at the next start");
}
