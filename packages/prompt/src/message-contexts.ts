import type { AgentMessage, InputBlock, UserMessage } from "@signalbox/agent-core";

/** What the model is told and shown beside a message, in addition to the context that the message has itself. */
export interface MessageContext {
  /** Untrusted context. */
  readonly text: string;
  /** Pictures and documents. */
  readonly blocks: readonly InputBlock[];
}

/** What stands beside messages in the requests of a run; its history stays as it is. */
export interface MessageContexts {
  /** This message has this context. */
  add(message: UserMessage, context: MessageContext): void;
  /** The conversation of one model call with each message's context in its place. */
  apply(messages: readonly AgentMessage[]): readonly AgentMessage[];
}

export function createMessageContexts(): MessageContexts {
  const given = new Map<AgentMessage, UserMessage>();
  return {
    add: (message, context) => void given.set(message, withContext(message, context)),
    apply: (messages) => messages.map((message) => given.get(message) ?? message),
  };
}

function withContext(message: UserMessage, { text, blocks }: MessageContext): UserMessage {
  const context = [message.context ?? "", text].filter((part) => part !== "").join("\n\n");
  const { content } = message;
  const said = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
  return {
    ...message,
    content: blocks.length === 0 ? content : [...blocks, ...said],
    ...(context === "" ? {} : { context }),
  };
}
