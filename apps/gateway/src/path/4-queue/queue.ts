import { needsTurn, type Order } from "@signalbox/commands";
import type { Lanes, QueueModes } from "@signalbox/lanes";
import type { Agent, Agents } from "@signalbox/setup";
import type { InboundRecord } from "../../store.ts";
import type { Accepted } from "../3-accept/accept.ts";
import type { Queued, QueuedMessage } from "./message.ts";

export interface QueuePorts {
  readonly agents: Pick<Agents, "get">;
  /** What a message orders beyond its plain text. */
  readonly readOrder: (stored: InboundRecord, agentId: string) => Order | undefined;
  /** Answers a command that needs no turn. */
  readonly answerAtOnce: (message: QueuedMessage, agent: Agent, order: Order) => void;
  readonly lanes: Pick<Lanes<Queued>, "enqueue">;
  readonly modes: Pick<QueueModes, "read">;
}

/** Where messages part: a command that needs no turn is answered at once, everything else waits in its lane. */
export interface Queue {
  /** To be awaited before a message of the session enters: reads how the session wants its messages treated. */
  expect(sessionKey: string): Promise<void>;
  enter(message: QueuedMessage): void;
  /** A later version of a message that waits; undefined where it would not wait, and has to enter anew. */
  revised(message: QueuedMessage): QueuedMessage | undefined;
}

export function createQueue({ agents, readOrder, answerAtOnce, lanes, modes }: QueuePorts): Queue {
  const withOrder = (message: QueuedMessage): QueuedMessage => {
    const { order: _, ...plain } = message;
    const order = readOrder(message.stored, message.agentId);
    // What has an order has a turn of its own: it neither steers another nor is joined by others.
    return order === undefined ? plain : { ...plain, order, exclusive: true };
  };
  return {
    expect: modes.read,
    enter(message) {
      const whole = withOrder(message);
      const { order } = whole;
      const agent = agents.get(message.agentId);
      if (agent === undefined || order === undefined || needsTurn(order)) lanes.enqueue(whole);
      else answerAtOnce(whole, agent, order);
    },
    revised(message) {
      const whole = withOrder(message);
      return whole.order === undefined || needsTurn(whole.order) ? whole : undefined;
    },
  };
}

/** An accepted message as its lane has it. */
export function queuedMessage({ id, seq, route, stored, exclusive }: Accepted): QueuedMessage {
  return { kind: "message", id, seq, ...route, stored, exclusive };
}
