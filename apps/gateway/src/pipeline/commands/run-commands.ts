import { reasonOf } from "@signalbox/agent-core";
import { getSpeakerKey } from "@signalbox/channel";
import type { RunHandle } from "@signalbox/lanes";
import { type InterruptedRun, isStoreError, StoreError } from "@signalbox/store";
import type { Order } from "../../command-syntax/read.ts";
import type { GatewayContext } from "../../context.ts";
import { getPlainText, type Queued, type QueuedMessage } from "../../messages/queued-message.ts";
import { getSenderPhrases } from "../../messages/sender-phrases.ts";
import { sessionSeed } from "../../messages/session-seed.ts";
import { ShutdownAbort } from "../../shutdown.ts";
import type { GatewayBodies } from "../../store.ts";
import { getCommandName } from "../5-prepare/resume-run.ts";
import { failedRun } from "../7-conclude/commit.ts";
import { refuse } from "../7-conclude/refuse.ts";
import { begunRun, type CommandRun, endCommand, finish, type InTurn, leaveOpen } from "./command-run.ts";
import { compactNow } from "./compact.ts";
import { completeCommand } from "./complete-command.ts";
import { dispatch } from "./dispatch.ts";

/** Executes a command that has waited for its turn in the lane. Throws store errors. */
export async function answerCommand(
  ctx: GatewayContext,
  message: QueuedMessage,
  handle: RunHandle<Queued>,
): Promise<void> {
  const turn = getTurn(ctx, message, handle);
  if (turn !== undefined) await answerInTurn(ctx, turn);
  else await refuse(ctx, [message], NO_AGENT);
}

/** Continues a command that an earlier process started. */
export async function resumeCommand(
  ctx: GatewayContext,
  message: QueuedMessage,
  handle: RunHandle<Queued>,
  before: InterruptedRun<GatewayBodies>,
): Promise<void> {
  const turn = getTurn(ctx, message, handle);
  const runId = before.run.id;
  if (turn !== undefined)
    return executeCommand(ctx, { ...turn, runId, name: getCommandName(before) ?? "", before });
  const begun = { runId, sessionKey: message.sessionKey, messages: [message], handle };
  await finish(ctx, begun, failedRun("no_agent"));
}

function getTurn(
  { config }: GatewayContext,
  message: QueuedMessage,
  handle: RunHandle<Queued>,
): InTurn | undefined {
  const agent = config.current().agents.at(message.agentId, message.sessionKey);
  return agent && { message, agent, order: message.order, handle };
}

const NO_AGENT = { code: "no_agent", message: "The agent of this command is not configured any more." };

async function answerInTurn(ctx: GatewayContext, turn: InTurn): Promise<void> {
  const { store, lease } = ctx;
  const { agent, message, order } = turn;
  if (order?.kind === "command" && (order.name === "new" || order.name === "reset")) {
    if ((await store.sessions.get(message.sessionKey)) !== undefined)
      await store.sessions.reset(message.sessionKey, lease);
    ctx.histories.forget(message.sessionKey);
    await ctx.toolbox.endCommands(message.sessionKey);
    return completeCommand(ctx, message, {
      name: order.name,
      text: (await getSenderPhrases(ctx, agent, message)).newConversation,
      begins: true,
    });
  }
  const name = getCommandLabel(order);
  const begun = await store.runs.begin({
    session: sessionSeed(message, getPlainText(message)),
    lease,
    inboxIds: [message.id],
    userMessages: [],
    sender: getSpeakerKey(message.stored.event),
    meta: { command: name },
  });
  if (begun.outcome === "busy")
    throw new StoreError("busy", `the session ${message.sessionKey} is busy with the run ${begun.run.id}`);
  await executeCommand(ctx, { ...turn, runId: begun.run.id, name });
}

async function executeCommand(ctx: GatewayContext, run: CommandRun): Promise<void> {
  const { message, order, runId } = run;
  ctx.live.publish(message.sessionKey, {
    type: "run.start",
    runId,
    answers: [message.stored.event.messageId],
  });
  try {
    if (order?.kind === "dispatch") await dispatch(ctx, run, order);
    else if (order?.kind === "command" && order.name === "compact") await compactNow(ctx, run);
    else await endCommand(ctx, run, (await getSenderPhrases(ctx, run.agent, message)).commandGone);
  } catch (error) {
    // After a store error, the journal allows the command to continue.
    if (isStoreError(error)) throw error;
    if (error instanceof ShutdownAbort) return leaveOpen(ctx, run);
    ctx.logger.error({ run: runId, err: reasonOf(error) }, "a command failed inside the gateway");
    await finish(ctx, begunRun(run), failedRun("internal", reasonOf(error)));
  }
}

function getCommandLabel(order: Order | undefined): string {
  if (order?.kind === "dispatch") return order.command.name;
  return order?.kind === "command" ? order.name : "unknown";
}
