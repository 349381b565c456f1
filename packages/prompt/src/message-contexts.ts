import type { AgentMessage, InputBlock, UserMessage } from "@signalbox/agent-core";

/** Context of a message in addition to `UserMessage.context`. */
export interface MessageContext {
  /** Untrusted context. */
  readonly text: string;
  /** Images and documents. */
  readonly blocks: readonly InputBlock[];
}

/** Adds context to messages in a run's requests without changing its history. */
export interface MessageContexts {
  /** Sets the context of a message. */
  add(message: UserMessage, context: MessageContext): void;
  /** Returns the messages for one model call, each with its context. */
  apply(messages: readonly AgentMessage[]): readonly AgentMessage[];
}

export function createMessageContexts(): MessageContexts {
  const contexts = new Map<AgentMessage, UserMessage>();
  return {
    add: (message, context) => void contexts.set(message, withContext(message, context)),
    apply: (messages) => messages.map((message) => contexts.get(message) ?? message),
  };
}

function withContext(message: UserMessage, { text, blocks }: MessageContext): UserMessage {
  const context = [message.context ?? "", text].filter((part) => part !== "").join("\n\n");
  const { content } = message;
  const blocksOfMessage = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
  return {
    ...message,
    content: blocks.length === 0 ? content : [...blocks, ...blocksOfMessage],
    context: context === "" ? undefined : context,
  };
}
