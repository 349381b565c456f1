import type { UserMessage } from "@signalbox/agent-core";
import { attachmentNote, type Incoming } from "@signalbox/attachments";
import { speakerOf } from "@signalbox/channel";
import { senderName } from "@signalbox/channel/accounts";
import { type BriefMessage, formatBody, summaryNote, takenBackNote } from "@signalbox/prompt";
import { type QueuedMessage, spokenText } from "../4-queue/message.ts";
import { filesOf } from "./files-of.ts";
import { createFacts, type InboundContextPorts } from "./inbound-context.ts";

export interface UserMessagesPorts extends InboundContextPorts {
  readonly incoming: Pick<Incoming, "take">;
}

/** Stands for a forwarded message, whose content is in the context of the message. */
const FORWARD_NOTE = "[forwarded message]";

/** Messages as the history keeps them. */
export interface UserMessages {
  /** One of each message, in order. */
  of(messages: readonly QueuedMessage[]): Promise<UserMessage[]>;
  /** Messages beyond the queue's cap, in short. */
  summary(messages: readonly QueuedMessage[]): UserMessage;
  /** Messages that were deleted on their platform after the model had read them. */
  takenBack(messages: readonly QueuedMessage[]): UserMessage;
}

export function createUserMessages(ports: UserMessagesPorts): UserMessages {
  const { now } = ports;
  const factsOf = createFacts(ports);
  const body = async (message: QueuedMessage): Promise<string> => {
    const { event } = message.stored;
    // The files of messages that it refers to follow its own. They are named in its context.
    const files = await ports.incoming.take(filesOf(message));
    const notes = files.slice(0, event.media.length).map(attachmentNote);
    const forwards = (event.references ?? []).filter(({ kind }) => kind === "forward");
    const lines = [spokenText(message), ...notes, ...forwards.map(() => FORWARD_NOTE)];
    const text = lines.filter((line) => line !== "").join("\n");
    // Clients of the gateway itself speak for themselves: their text stands without an envelope.
    if (ports.definition(event.channel, event.account)?.capabilities.authenticatedByGateway === true)
      return text;
    return formatBody({
      messageId: event.messageId,
      senderName: await senderName(event, ports.account(event.channel, event.account)),
      text,
    });
  };
  const told = (content: string): UserMessage => ({ role: "user", content, timestamp: now() });

  return {
    of: (messages) =>
      Promise.all(
        messages.map(async (message): Promise<UserMessage> => {
          const { event, wake } = message.stored;
          const [content, context] = await Promise.all([body(message), factsOf(message)]);
          return {
            role: "user",
            content,
            context,
            senderId: wake === undefined ? speakerOf(event) : undefined,
            timestamp: event.timestamp,
          };
        }),
      ),
    summary: (messages) => told(summaryNote(messages.map(brief))),
    takenBack: (messages) => told(takenBackNote(messages.map(brief))),
  };
}

function brief({ stored: { event } }: QueuedMessage): BriefMessage {
  const { messageId, sender, text } = event;
  return { messageId, senderName: sender.name ?? sender.id, text };
}
