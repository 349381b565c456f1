import { reasonOf } from "@signalbox/agent-core";
import { getSpeakerKey, type MessageEvent } from "@signalbox/channel";
import { mayAnswer } from "@signalbox/tools";
import { waitsInQueue } from "../../command-syntax/read.ts";
import type { GatewayContext } from "../../context.ts";
import type { QueuedMessage } from "../../messages/queued-message.ts";
import { answerImmediately } from "../commands/immediate-commands.ts";
import { readMessageOrder } from "./read-order.ts";

/** Answers a command that needs no run immediately. Every other message waits in the lane of its session. */
export function enqueue(ctx: GatewayContext, message: QueuedMessage): void {
  const whole = asAnswer(ctx, withOrder(ctx, message));
  const { order } = whole;
  const agent = ctx.config.current().agents.at(message.agentId, message.sessionKey);
  if (agent === undefined || order === undefined || waitsInQueue(order)) ctx.lanes.enqueue(whole);
  else void answerImmediately(ctx, whole, agent, order);
}

/**
 * Parses a later version of a waiting message.
 *
 * @returns undefined if the later version is answered immediately and therefore must be queued again
 */
export function revised(ctx: GatewayContext, message: QueuedMessage): QueuedMessage | undefined {
  const whole = withOrder(ctx, message);
  return whole.order === undefined || waitsInQueue(whole.order) ? whole : undefined;
}

function withOrder(ctx: GatewayContext, message: QueuedMessage): QueuedMessage {
  const { order: _, ...plain } = message;
  const order = readMessageOrder(ctx, message.stored, message);
  // A command neither steers another run nor shares its run with other messages.
  return order === undefined ? plain : { ...plain, order, exclusive: true };
}

/** Treats plain text as `/answer` if the agent has asked the sender a question that is still open. */
function asAnswer({ lanes, userQuestions, logger }: GatewayContext, message: QueuedMessage): QueuedMessage {
  const { id, sessionKey, order, stored } = message;
  const { event, role, trigger } = stored;
  if (order !== undefined || trigger !== undefined) return message;
  // Ignore the question of a run that has ended, because nothing would read the answer.
  const goesOn = lanes.all(sessionKey).some(({ kind }) => kind === "resume");
  const open = userQuestions.getOpen(sessionKey, getSpeakerKey(event), goesOn);
  const question = userQuestions.getAnsweredBy(id) ?? open;
  if (question === undefined) return message;
  if (isInOwnWords(event) && mayAnswer(question, getSpeakerKey(event), role))
    return { ...message, order: { kind: "command", name: "answer", args: `${question.id} ${event.text}` } };
  // The agent gets the whole message, with its attachments and its sender's rights.
  userQuestions
    .close(question.id, "passed_over")
    .catch((error: unknown) =>
      logger.warn({ question: question.id, err: reasonOf(error) }, "a question could not be skipped"),
    );
  return message;
}

/** Returns true if a message consists only of typed text. */
function isInOwnWords({ text, media, forwarded }: MessageEvent): boolean {
  return media.length === 0 && forwarded === undefined && text.trim() !== "";
}
