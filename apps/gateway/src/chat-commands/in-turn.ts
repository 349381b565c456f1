import { reasonOf } from "@signalbox/agent-core";
import { speakerOf } from "@signalbox/channel";
import type { RunHandle } from "@signalbox/lanes";
import { type InterruptedRun, isStoreError, StoreError } from "@signalbox/store";
import { phrasesToAsker } from "../api/asker-phrases.ts";
import { sessionSeed } from "../api/session-seed.ts";
import { type Queued, type QueuedMessage, spokenText } from "../pipeline/4-queue/message.ts";
import { commandOf } from "../pipeline/5-prepare/take-up.ts";
import { failedRun } from "../pipeline/7-conclude/commit.ts";
import { ShutdownAbort } from "../shutdown.ts";
import type { GatewayBodies } from "../store.ts";
import {
  begunRun,
  type CommandRun,
  endCommand,
  type InTurn,
  type InTurnPorts,
  leaveOpen,
} from "./command-run.ts";
import { compactNow } from "./compact.ts";
import { dispatch } from "./dispatch.ts";
import type { Order } from "./read.ts";
import { settleCommand } from "./settle.ts";

/** Commands that have a turn. What fails in the store is thrown. */
export interface InTurnCommands {
  /** Carries out a command that waited for its turn. */
  answer(message: QueuedMessage, handle: RunHandle<Queued>): Promise<void>;
  /** Continues one that an earlier process began. */
  goOn(
    message: QueuedMessage,
    handle: RunHandle<Queued>,
    interrupted: InterruptedRun<GatewayBodies>,
  ): Promise<void>;
}

export function createInTurnCommands(ports: InTurnPorts): InTurnCommands {
  const turnOf = (message: QueuedMessage, handle: RunHandle<Queued>): InTurn | undefined => {
    const agent = ports.agents.get(message.agentId);
    return agent && { message, agent, order: message.order, handle };
  };
  return {
    async answer(message, handle) {
      const turn = turnOf(message, handle);
      if (turn !== undefined) await answerInTurn(ports, turn);
      else await ports.refuse([message], NO_AGENT);
    },
    async goOn(message, handle, before) {
      const turn = turnOf(message, handle);
      const begun = { runId: before.run.id, sessionKey: message.sessionKey, messages: [message], handle };
      if (turn !== undefined) await resumeCommand(ports, turn, before);
      else await ports.finish(begun, failedRun("no_agent"));
    },
  };
}

const NO_AGENT = { code: "no_agent", message: "The agent of this command is not configured any more." };

async function answerInTurn(options: InTurnPorts, turn: InTurn): Promise<void> {
  const { store, lease } = options;
  const { agent, message, order } = turn;
  if (order?.kind === "command" && (order.name === "new" || order.name === "reset")) {
    if ((await store.sessions.get(message.sessionKey)) !== undefined)
      await store.sessions.reset(message.sessionKey, lease);
    options.histories.forget(message.sessionKey);
    await options.toolbox.endCommands(message.sessionKey);
    return settleCommand(options, message, {
      name: order.name,
      text: (await phrasesToAsker(options, agent, message)).newConversation,
      begins: true,
    });
  }
  const name = nameOf(order);
  const begun = await store.runs.begin({
    session: sessionSeed(message, spokenText(message)),
    lease,
    inboxIds: [message.id],
    userMessages: [],
    sender: speakerOf(message.stored.event),
    meta: { command: name },
  });
  if (begun.outcome === "busy")
    throw new StoreError("busy", `the session ${message.sessionKey} is held by the run ${begun.run.id}`);
  await goOn(options, { ...turn, runId: begun.run.id, name });
}

function resumeCommand(
  options: InTurnPorts,
  turn: InTurn,
  before: InterruptedRun<GatewayBodies>,
): Promise<void> {
  return goOn(options, { ...turn, runId: before.run.id, name: commandOf(before) ?? "", before });
}

async function goOn(options: InTurnPorts, run: CommandRun): Promise<void> {
  const { message, order, runId } = run;
  options.live.publish(message.sessionKey, {
    type: "run.start",
    runId,
    answers: [message.stored.event.messageId],
  });
  try {
    if (order?.kind === "dispatch") await dispatch(options, run, order);
    else if (order?.kind === "command" && order.name === "compact") await compactNow(options, run);
    else await endCommand(options, run, (await phrasesToAsker(options, run.agent, message)).commandGone);
  } catch (error) {
    // What a failing store leaves is the journal's; it goes on from there.
    if (isStoreError(error)) throw error;
    if (error instanceof ShutdownAbort) return leaveOpen(options, run);
    options.logger.error({ run: runId, err: reasonOf(error) }, "a command failed inside the gateway");
    await options.finish(begunRun(run), failedRun("internal", reasonOf(error)));
  }
}

function nameOf(order: Order | undefined): string {
  if (order?.kind === "dispatch") return order.command.name;
  return order?.kind === "command" ? order.name : "unknown";
}
