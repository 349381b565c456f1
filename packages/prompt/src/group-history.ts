import type { MessageEvent } from "@signalbox/channel";
import type { ContextMessage } from "./event-context.ts";

/** What is kept of a message in a group that was not addressed to the agent, until one is. */
export interface GroupEntry {
  readonly id: string;
  readonly senderId: string;
  /** See {@link groupWords}. */
  readonly body: unknown;
  readonly at: number;
}

/** Names what is kept of a group, or of one of its threads. */
export function groupKey({
  channel,
  account,
  conversation: { id, threadId, beginsThread = false },
}: Pick<MessageEvent, "channel" | "account" | "conversation">): string {
  const thread = threadId === undefined || beginsThread ? [] : [threadId];
  return JSON.stringify([channel, account, id, ...thread]);
}

/** The words of a message, and whose they are. */
export function groupWords({ text, sender }: Pick<MessageEvent, "text" | "sender">): {
  readonly text: string;
  readonly name?: string;
} {
  return { text, ...(sender.name === undefined ? {} : { name: sender.name }) };
}

/** A kept message, as context for one that is addressed to the agent. */
export function groupMessage({ id, senderId, body, at }: GroupEntry): ContextMessage {
  const { text, name } = recordOf(body);
  return {
    messageId: id,
    senderId,
    timestamp: at,
    text: typeof text === "string" ? text : "",
    ...(typeof name === "string" ? { senderName: name } : {}),
  };
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return value !== null && typeof value === "object" ? { ...value } : {};
}
