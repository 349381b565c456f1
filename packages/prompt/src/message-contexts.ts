import type { AgentMessage, InputBlock, UserMessage } from "@signalbox/agent-core";

/** What the model is told beside a message for as long as its run goes on; the history does not keep it. */
export interface MessageContext {
  /** Trusted metadata and untrusted context. */
  readonly text: string;
  /** Pictures and documents. */
  readonly blocks: readonly InputBlock[];
}

/** The contexts of the messages that a run was given. */
export interface MessageContexts {
  /** This message has this context. */
  add(message: UserMessage, context: MessageContext): void;
  /** The conversation of one model call with each message's context in its place. */
  apply(messages: readonly AgentMessage[]): readonly AgentMessage[];
}

export function createMessageContexts(): MessageContexts {
  const contexts = new Map<AgentMessage, MessageContext>();
  return {
    add: (message, context) => void contexts.set(message, context),
    apply: (messages) =>
      messages.map((message) => {
        const context = contexts.get(message);
        return context === undefined || message.role !== "user" ? message : withContext(message, context);
      }),
  };
}

function withContext(message: UserMessage, { text, blocks }: MessageContext): UserMessage {
  const { content } = message;
  if (typeof content === "string" && blocks.length === 0)
    return { ...message, content: `${text}\n\n${content}` };
  const said = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
  return { ...message, content: [{ type: "text", text }, ...blocks, ...said] };
}
