import type {
  ChatMessage,
  ConversationHistory,
  MessageFrame,
  RunEndFrame,
  ServerFrame,
  SubscribedFrame,
} from "@signalbox/protocol";
import type { ChatOptions, Connection, Outgoing } from "./connection.ts";
import { newId } from "./id.ts";
import type { Queue } from "./queue.ts";

export interface ChatHost extends Connection {
  frames(): Queue<ServerFrame>;
}

/**
 * Sends a message and yields the frames of its conversation until the run that deals with it ends. Where the
 * connection was away when that happened, the missed messages come from `history` and the end from what the
 * gateway says on return. Leaving the loop early leaves the run alone. Throws what `send` rejects with.
 */
export async function* chat(
  host: ChatHost,
  history: (conversation: string) => Promise<ConversationHistory>,
  outgoing: Outgoing,
  { signal, id = newId() }: ChatOptions,
): AsyncGenerator<ServerFrame, undefined> {
  const { conversation } = outgoing;
  const frames = host.frames();
  const release = host.subscribe(conversation, outgoing.agent);
  const abort = () => host.abort(conversation);
  signal?.addEventListener("abort", abort);
  const sent = new SentMessage(id);
  const shown = new Set<string>();
  try {
    const sending = host.send({ ...outgoing, id });
    sending.catch((error: unknown) => frames.end(error));
    for await (const frame of frames) {
      if (frame.type === "ready") sent.reconnected();
      if (!isOf(frame, conversation) || (frame.type === "error" && frame.id === id)) continue;
      sent.hear(frame);
      if (frame.type === "message") shown.add(frame.message.id);
      // A stop that was asked for before the run began would otherwise be lost.
      if (frame.type === "run.start" && signal?.aborted) abort();
      yield frame;
      if (sent.isAnswered) return;
      const { missedEnd } = sent;
      if (missedEnd !== undefined) {
        yield* missed((await history(conversation)).messages, sent.messageId, shown, missedEnd);
        return;
      }
    }
    // The connection closed. If that was before the gateway took the message, the caller must know.
    if (sent.messageId === undefined) await sending;
  } finally {
    signal?.removeEventListener("abort", abort);
    release();
    frames.end();
  }
}

/** What the frames of a conversation say of a message that was sent into it. */
class SentMessage {
  readonly #id: string;
  /** Its id at the gateway, once accepted. */
  messageId: string | undefined;
  /** Messages whose run ended, also before we knew which of them is ours. */
  readonly #answered = new Set<string>();
  /** Its run may have ended where we did not see it: after a reconnect, or when the send was a repetition. */
  #mayBeOver = false;
  /** Set while the gateway's latest word is that nothing runs or waits. */
  #idle: SubscribedFrame | undefined;

  constructor(id: string) {
    this.#id = id;
  }

  reconnected(): void {
    this.#idle = undefined;
    this.#mayBeOver = this.messageId !== undefined;
  }

  hear(frame: ServerFrame): void {
    switch (frame.type) {
      case "subscribed":
        // What is resumed also tells how the run ended.
        this.#idle = frame.busy || frame.resumed ? undefined : frame;
        break;
      case "accepted":
        if (frame.id !== this.#id) break;
        this.messageId = frame.messageId;
        this.#mayBeOver ||= frame.duplicate;
        break;
      case "run.end":
        for (const answered of frame.answers ?? [this.messageId])
          if (answered !== undefined) this.#answered.add(answered);
        break;
    }
  }

  get isAnswered(): boolean {
    return this.messageId !== undefined && this.#answered.has(this.messageId);
  }

  /** What the gateway says once its run has ended where we did not see it. */
  get missedEnd(): SubscribedFrame | undefined {
    return this.#mayBeOver ? this.#idle : undefined;
  }
}

function* missed(
  messages: ChatMessage[],
  ours: string | undefined,
  shown: Set<string>,
  { conversation, lastRun }: SubscribedFrame,
): Generator<MessageFrame | RunEndFrame, undefined> {
  const from = messages.findIndex((message) => message.id === ours);
  for (const message of from < 0 ? [] : messages.slice(from + 1)) {
    if (!shown.has(message.id)) yield { type: "message", conversation, message };
  }
  if (lastRun !== undefined) yield { type: "run.end", conversation, ...lastRun };
}

function isOf(
  frame: ServerFrame,
  conversation: string,
): frame is Extract<ServerFrame, { conversation?: string }> {
  return "conversation" in frame && frame.conversation === conversation;
}
