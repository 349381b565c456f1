import { setImmediate } from "node:timers/promises";
import { reasonOf } from "@signalbox/agent-core";
import { isStoreError } from "@signalbox/store";
import { failureNote } from "@signalbox/telemetry";
import { ANSWERS } from "../../chat-commands/answers.ts";
import { applyChoice } from "../../chat-commands/choices.ts";
import type { Order } from "../../command-syntax/read.ts";
import { isAtOnce } from "../../command-syntax/table.ts";
import type { Agent } from "../../configure/agents.ts";
import { getPhrases } from "../../configure/get-phrases.ts";
import type { GatewayContext } from "../../context.ts";
import type { QueuedMessage } from "../../messages/queued-message.ts";
import { getSenderPhrases } from "../../messages/sender-phrases.ts";
import { reportOutcome } from "../report-outcome.ts";
import { type CommandEnd, completeCommand } from "./complete-command.ts";

/** Answers a command that needs no run, in parallel with other work in its conversation. */
export async function answerImmediately(
  ctx: GatewayContext,
  message: QueuedMessage,
  agent: Agent,
  order: Order,
): Promise<void> {
  // The accepted frame must be sent before the message's end.
  await setImmediate();
  await ctx.supervisor.run({
    name: `answer the command ${message.id}`,
    attempt: async () => completeCommand(ctx, message, await answerOrFault(ctx, message, agent, order)),
    giveUp: (error) => giveUp(ctx, message, error),
  });
}

/** Reports an internal error to the sender. Only store errors are retried. */
async function answerOrFault(
  ctx: GatewayContext,
  message: QueuedMessage,
  agent: Agent,
  order: Order,
): Promise<CommandEnd> {
  try {
    return await answer(ctx, message, agent, order);
  } catch (error) {
    if (isStoreError(error)) throw error;
    const refused = reasonOf(error);
    ctx.logger.error({ message: message.id, err: refused }, "a command failed inside the gateway");
    const name = order.kind === "turn" || order.kind === "dispatch" ? order.kind : order.name;
    return { name, text: failureNote("internal", getPhrases(ctx, message)), refused };
  }
}

async function answer(
  ctx: GatewayContext,
  message: QueuedMessage,
  agent: Agent,
  order: Order,
): Promise<CommandEnd> {
  const phrases = await getSenderPhrases(ctx, agent, message);
  switch (order.kind) {
    case "refused": {
      const refused = `a ${message.stored.role} may not use /${order.name}`;
      return { name: order.name, text: phrases.mayNotUse(order.name), refused };
    }
    case "unknown":
      return { name: "unknown", text: phrases.noCommand(order.name), refused: `there is no /${order.name}` };
    case "choose":
      return { name: order.name, text: await applyChoice(ctx, message, agent, order.choice, phrases) };
    case "command":
      if (isAtOnce(order.name)) {
        const asked = { message, agent, args: order.args, phrases };
        return { name: order.name, text: await ANSWERS[order.name](ctx, asked) };
      }
      break;
  }
  throw new TypeError(`${order.kind} needs a turn`);
}

/** An answer that cannot be rendered for its channel would fail on every retry. */
async function giveUp(ctx: GatewayContext, { id }: QueuedMessage, error: unknown): Promise<void> {
  const message = reasonOf(error);
  await ctx.store.inbox.settle(id, "failed-reported", { rule: "internal", reason: message });
  reportOutcome(ctx, id, { state: "failed", text: "", error: { code: "internal", message } });
}
