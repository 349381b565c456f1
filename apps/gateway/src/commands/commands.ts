import { setImmediate } from "node:timers/promises";
import { type InboxId, StoreError } from "@signalbox/store";
import type { Agent, Agents } from "../agents.ts";
import { messageOf } from "../errors.ts";
import type { Logger } from "../log.ts";
import { failureNote } from "../path/conclude.ts";
import type { RunOptions } from "../path/run.ts";
import { isFatal, type StoredInbound } from "../path/stored.ts";
import type { MessageTicket } from "../path/ticket.ts";
import { ANSWERS, type AnswerOptions, applyChoice } from "./answers.ts";
import { type Order, readOrder } from "./read.ts";
import { type CommandEnd, type SettleOptions, settleCommand } from "./settle.ts";
import { isAtOnce } from "./table.ts";

export interface CommandsOptions extends SettleOptions, AnswerOptions {
  readonly agents: Agents;
  /** Puts a message into its lane. */
  readonly enqueue: (ticket: MessageTicket) => void;
  readonly onFatal: RunOptions["onFatal"];
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
  /** Begins no more answers, the next start does; resolves when those under way have ended. */
  close(): Promise<void>;
}

/** How long a failing store is left alone, in milliseconds. */
const AGAIN_MS = 2_000;

export function createCommands(options: CommandsOptions): Commands {
  const { agents, models, logger } = options;
  const underWay = new Map<InboxId, Promise<void>>();
  let closed = false;

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

  /**
   * Answers, and goes on trying while the store fails: the message is accepted, so it gets its end. An answer that
   * cannot even be put into words of its channel would fail for ever, so it is given up and the log says why.
   */
  const answerNow = async (ticket: MessageTicket, agent: Agent, order: Order): Promise<void> => {
    try {
      await settleCommand(options, ticket, await answerOr(ticket, agent, order));
    } catch (error) {
      if (error instanceof Error && isFatal(error)) return options.onFatal(error);
      if (!(error instanceof StoreError))
        return giveUp(ticket, error).catch(() => again(ticket, agent, order));
      logger.error({ message: ticket.id, err: messageOf(error) }, "a command failed; it is tried again");
      again(ticket, agent, order);
    }
  };
  const again = (ticket: MessageTicket, agent: Agent, order: Order): void =>
    void setTimeout(() => begin(ticket, agent, order), AGAIN_MS).unref();
  const giveUp = async ({ id }: MessageTicket, error: unknown): Promise<void> => {
    const message = messageOf(error);
    logger.error({ message: id, err: message }, "the answer to a command cannot be given");
    await options.store.inbox.settle(id, "failed-reported", { rule: "internal", reason: message });
    options.onOutcome(id, { state: "failed", text: "", error: { code: "internal", message } });
  };
  const begin = (ticket: MessageTicket, agent: Agent, order: Order): void => {
    if (closed) return;
    // Whoever gave the message on is to hear of its acceptance before its end.
    const done = setImmediate().then(() => answerNow(ticket, agent, order));
    underWay.set(ticket.id, done);
    void done.finally(() => underWay.delete(ticket.id));
  };

  return {
    read,
    enter(ticket) {
      const whole = ordered(ticket);
      const { order } = whole;
      const agent = agents.get(ticket.agentId);
      if (agent === undefined || order === undefined || needsTurn(order)) options.enqueue(whole);
      else begin(whole, agent, order);
    },
    waits(ticket) {
      const whole = ordered(ticket);
      return whole.order === undefined || needsTurn(whole.order) ? whole : false;
    },
    async close() {
      closed = true;
      while (underWay.size > 0) await Promise.all(underWay.values());
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
