import { setImmediate } from "node:timers/promises";
import { reasonOf } from "@signalbox/agent-core";
import type { Supervisor } from "@signalbox/lanes";
import { isStoreError } from "@signalbox/store";
import { failureNote } from "@signalbox/telemetry";
import type { Logger } from "@signalbox/telemetry/logger";
import { phrasesToAsker } from "../api/asker-phrases.ts";
import type { Agent } from "../configure/agents.ts";
import type { QueuedMessage } from "../pipeline/4-queue/message.ts";
import type { GatewayStore } from "../store.ts";
import { ANSWERS } from "./answers.ts";
import { applyChoice } from "./choices.ts";
import type { AnswerOptions } from "./command.ts";
import type { Order } from "./read.ts";
import { type CommandEnd, type SettlePorts, settleCommand } from "./settle.ts";
import { isAtOnce } from "./table.ts";

export interface AtOnceOptions extends SettlePorts, Omit<AnswerOptions, "store"> {
  readonly store: GatewayStore;
  readonly supervisor: Pick<Supervisor, "run">;
  readonly logger: Logger;
}

/** Answers commands that need no run, in parallel to whatever happens in their conversation. */
export function createAtOnceCommands(
  options: AtOnceOptions,
): (message: QueuedMessage, agent: Agent, order: Order) => void {
  return async (message, agent, order) => {
    // Whoever gave the message on is to hear of its acceptance before its end.
    await setImmediate();
    await options.supervisor.run({
      name: `answer the command ${message.id}`,
      attempt: async () =>
        settleCommand(options, message, await answerOrFault(options, message, agent, order)),
      giveUp: (error) => giveUp(options, message, error),
    });
  };
}

/** A fault of our own is told; only a store that fails is worth another try. */
async function answerOrFault(
  options: AtOnceOptions,
  message: QueuedMessage,
  agent: Agent,
  order: Order,
): Promise<CommandEnd> {
  try {
    return await answer(options, message, agent, order);
  } catch (error) {
    if (isStoreError(error)) throw error;
    const refused = reasonOf(error);
    options.logger.error({ message: message.id, err: refused }, "a command failed inside the gateway");
    const name = order.kind === "turn" || order.kind === "dispatch" ? order.kind : order.name;
    return { name, text: failureNote("internal", options.phrasesOf(message)), refused };
  }
}

async function answer(
  options: AtOnceOptions,
  message: QueuedMessage,
  agent: Agent,
  order: Order,
): Promise<CommandEnd> {
  const phrases = await phrasesToAsker(options, agent, message);
  switch (order.kind) {
    case "refused": {
      const refused = `a ${message.stored.role} may not use /${order.name}`;
      return { name: order.name, text: phrases.mayNotUse(order.name), refused };
    }
    case "unknown":
      return { name: "unknown", text: phrases.noCommand(order.name), refused: `there is no /${order.name}` };
    case "choose":
      return { name: order.name, text: await applyChoice(options, message, agent, order.choice, phrases) };
    case "command":
      if (isAtOnce(order.name)) {
        const asked = { message, agent, args: order.args, phrases };
        return { name: order.name, text: await ANSWERS[order.name](options, asked) };
      }
      break;
  }
  throw new TypeError(`${order.kind} needs a turn`);
}

/** An answer that cannot even be put into words of its channel would fail for ever. */
async function giveUp(
  { store, onOutcome }: AtOnceOptions,
  { id }: QueuedMessage,
  error: unknown,
): Promise<void> {
  const message = reasonOf(error);
  await store.inbox.settle(id, "failed-reported", { rule: "internal", reason: message });
  onOutcome(id, { state: "failed", text: "", error: { code: "internal", message } });
}
