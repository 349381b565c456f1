import { setImmediate } from "node:timers/promises";
import type { Supervisor } from "@signalbox/lanes";
import { StoreError } from "@signalbox/store";
import type { Agent, Agents } from "../agents.ts";
import { messageOf } from "../errors.ts";
import type { Logger } from "../log.ts";
import type { MessageTicket } from "../path/4-queue/message.ts";
import { failureNote } from "../path/7-conclude/conclude.ts";
import type { StoredInbound } from "../store.ts";
import { ANSWERS, type AnswerOptions, applyChoice } from "./answers.ts";
import { type Order, readOrder } from "./read.ts";
import { type CommandEnd, type SettleOptions, settleCommand } from "./settle.ts";
import { isAtOnce } from "./table.ts";

export interface CommandsOptions extends SettleOptions, AnswerOptions {
  readonly agents: Agents;
  /** Puts a message into its lane. */
  readonly enqueue: (ticket: MessageTicket) => void;
  readonly supervisor: Pick<Supervisor, "run">;
  readonly logger: Logger;
}

/** Where messages part: commands that need no turn are answered here, everything else goes into its lane. */
export interface Commands {
  /** What a message orders beyond its plain text. */
  read(stored: StoredInbound, agentId: string): Order | undefined;
  /** Gives a message on, with its order read. */
  enter(ticket: MessageTicket): void;
  /** A later version of a message that waits; false where it would not wait, and has to be given on anew. */
  waits(ticket: MessageTicket): MessageTicket | false;
}

export function createCommands(options: CommandsOptions): Commands {
  const { agents, models, logger } = options;

  const read: Commands["read"] = (stored, agentId) => {
    const agent = agents.get(agentId);
    // Most messages are no order; nothing is looked up for them.
    if (agent === undefined || !stored.event.text.trimStart().startsWith("/")) return undefined;
    return readOrder(stored.event, {
      role: stored.role,
      skills: () => options.skills(agent),
      model: models.choose,
    });
  };
  const ordered = (ticket: MessageTicket): MessageTicket => {
    const { order: _, ...plain } = ticket;
    const order = read(ticket.stored, ticket.agentId);
    // What has an order has a turn of its own: it neither steers another nor is joined by others.
    return order === undefined ? plain : { ...plain, order, exclusive: true };
  };

  const answer = async (ticket: MessageTicket, agent: Agent, order: Order): Promise<CommandEnd> => {
    switch (order.kind) {
      case "refused": {
        const refused = `a ${ticket.stored.role} may not use /${order.name}`;
        return { name: order.name, text: `You may not use /${order.name} here.`, refused };
      }
      case "choose":
        return { name: order.name, text: await applyChoice(options, ticket, agent, order.choice) };
      case "command":
        if (isAtOnce(order.name)) {
          const asked = { ticket, agent, args: order.args };
          return { name: order.name, text: await ANSWERS[order.name](options, asked) };
        }
        break;
    }
    throw new TypeError(`${order.kind} needs a turn`);
  };

  /** A fault of our own is told; only a store that fails is worth another try. */
  const answerOr = async (ticket: MessageTicket, agent: Agent, order: Order): Promise<CommandEnd> => {
    try {
      return await answer(ticket, agent, order);
    } catch (error) {
      if (error instanceof StoreError) throw error;
      const refused = messageOf(error);
      logger.error({ message: ticket.id, err: refused }, "a command failed inside the gateway");
      const name = order.kind === "turn" || order.kind === "dispatch" ? order.kind : order.name;
      return { name, text: failureNote("internal"), refused };
    }
  };

  /** An answer that cannot even be put into words of its channel would fail for ever. */
  const giveUp = async ({ id }: MessageTicket, error: unknown): Promise<void> => {
    const message = messageOf(error);
    await options.store.inbox.settle(id, "failed-reported", { rule: "internal", reason: message });
    options.onOutcome(id, { state: "failed", text: "", error: { code: "internal", message } });
  };
  const begin = async (ticket: MessageTicket, agent: Agent, order: Order): Promise<void> => {
    // Whoever gave the message on is to hear of its acceptance before its end.
    await setImmediate();
    await options.supervisor.run({
      name: `answer the command ${ticket.id}`,
      attempt: async () => settleCommand(options, ticket, await answerOr(ticket, agent, order)),
      giveUp: (error) => giveUp(ticket, error),
    });
  };

  return {
    read,
    enter(ticket) {
      const whole = ordered(ticket);
      const { order } = whole;
      const agent = agents.get(ticket.agentId);
      if (agent === undefined || order === undefined || needsTurn(order)) options.enqueue(whole);
      else void begin(whole, agent, order);
    },
    waits(ticket) {
      const whole = ordered(ticket);
      return whole.order === undefined || needsTurn(whole.order) ? whole : false;
    },
  };
}

function needsTurn(order: Order): boolean {
  switch (order.kind) {
    case "turn":
    case "dispatch":
      return true;
    case "command":
      return !isAtOnce(order.name);
    case "choose":
    case "refused":
      return false;
  }
}
