import { reasonOf } from "@signalbox/agent-core";
import { type MessageEvent, speakerOf } from "@signalbox/channel";
import type { Lanes, QueueModes } from "@signalbox/lanes";
import type { Logger } from "@signalbox/telemetry/logger";
import { mayAnswer, type UserQuestions } from "@signalbox/tools";
import { needsTurn, type Order } from "../../chat-commands/read.ts";
import type { Agent, Agents } from "../../configure/agents.ts";
import type { Accepted } from "../3-accept/accept.ts";
import type { Queued, QueuedMessage, ReadOrder } from "./message.ts";

export interface QueuePorts {
  readonly agents: Pick<Agents, "get">;
  readonly readOrder: ReadOrder;
  /** Answers a command that needs no turn. */
  readonly answerAtOnce: (message: QueuedMessage, agent: Agent, order: Order) => void;
  readonly lanes: Pick<Lanes<Queued>, "enqueue" | "all">;
  /** What agents have asked people. */
  readonly userQuestions: Pick<UserQuestions, "getOpen" | "getAnsweredBy" | "close">;
  readonly modes: Pick<QueueModes, "read">;
  readonly logger: Logger;
}

/** Where messages part: a command that needs no turn is answered at once, everything else waits in its lane. */
export interface Queue {
  /** To be awaited before a message of the session enters: reads how the session wants its messages treated. */
  expect(sessionKey: string): Promise<void>;
  enter(message: QueuedMessage): void;
  /** A later version of a message that waits; undefined where it would not wait, and has to enter anew. */
  revised(message: QueuedMessage): QueuedMessage | undefined;
}

export function createQueue(ports: QueuePorts): Queue {
  const { agents, readOrder, answerAtOnce, lanes, modes, userQuestions, logger } = ports;
  const withOrder = (message: QueuedMessage): QueuedMessage => {
    const { order: _, ...plain } = message;
    const order = readOrder(message.stored, message.agentId);
    // What has an order has a turn of its own: it neither steers another nor is joined by others.
    return order === undefined ? plain : { ...plain, order, exclusive: true };
  };

  /** Plain words to an agent that has asked for them are their answer, as if they were given with its command. */
  const asAnswer = (message: QueuedMessage): QueuedMessage => {
    const { id, sessionKey, order, stored } = message;
    const { event, role, wake } = stored;
    if (order !== undefined || wake !== undefined) return message;
    // One that was asked by a run which is gone waits for nobody: its answer would be lost, whatever runs there now.
    const goesOn = lanes.all(sessionKey).some(({ kind }) => kind === "resume");
    const open = userQuestions.getOpen(sessionKey, speakerOf(event), goesOn);
    const question = userQuestions.getAnsweredBy(id) ?? open;
    if (question === undefined) return message;
    if (isInOwnWords(event) && mayAnswer(question, speakerOf(event), role))
      return { ...message, order: { kind: "command", name: "answer", args: `${question.id} ${event.text}` } };
    // The agent gets it whole, as a message and with its sender's rights, and not only the words in it.
    userQuestions
      .close(question.id, "passed_over")
      .catch((error: unknown) =>
        logger.warn({ question: question.id, err: reasonOf(error) }, "a question could not be skipped"),
      );
    return message;
  };
  return {
    expect: (sessionKey) => modes.read(sessionKey),
    enter(message) {
      const whole = asAnswer(withOrder(message));
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

/** Whether a message is nothing but what its sender wrote. */
function isInOwnWords({ text, media, forwarded }: MessageEvent): boolean {
  return media.length === 0 && forwarded === undefined && text.trim() !== "";
}

/** An accepted message as its lane has it. */
export function queuedMessage({ id, seq, route, stored, exclusive }: Accepted): QueuedMessage {
  return { kind: "message", id, seq, ...route, stored, exclusive };
}
