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
 * Sends a message and yields the frames of its conversation until its run ends. If the run ended while the connection
 * was lost, the generator loads the missed messages with `history` and derives the `run.end` from `subscribed`. Leaving
 * the loop early does not stop the run.
 *
 * @throws {ClientError} if the gateway refuses the message or the connection closes before it is accepted
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
      sent.track(frame);
      if (frame.type === "message") shown.add(frame.message.id);
      // The gateway ignores an abort that it receives before the run starts, so repeat it.
      if (frame.type === "run.start" && signal?.aborted) abort();
      yield frame;
      if (sent.isAnswered) return;
      const { missedEnd } = sent;
      if (missedEnd !== undefined) {
        const { messages } = await history(conversation);
        yield* replayMissed(messages, sent.messageId, shown, missedEnd);
        return;
      }
    }
    // The connection closed. Throw if the gateway had not accepted the message.
    if (sent.messageId === undefined) await sending;
  } finally {
    signal?.removeEventListener("abort", abort);
    release();
    frames.end();
  }
}

/** Tracks the state of a sent message based on the frames of its conversation. */
class SentMessage {
  readonly #id: string;
  /** The gateway's id of the message, once accepted. */
  messageId: string | undefined;
  /** Messages whose run has ended. Collected even before `messageId` is known. */
  readonly #answered = new Set<string>();
  /** The run may have ended unseen: after a reconnect, or because the message is a duplicate. */
  #mayHaveEnded = false;
  /** The latest `subscribed` frame, if it reported that nothing is running or waiting. */
  #idle: SubscribedFrame | undefined;

  constructor(id: string) {
    this.#id = id;
  }

  reconnected(): void {
    this.#idle = undefined;
    this.#mayHaveEnded = this.messageId !== undefined;
  }

  track(frame: ServerFrame): void {
    switch (frame.type) {
      case "subscribed":
        // A resumed subscription delivers the missed `run.end`.
        this.#idle = frame.busy || frame.resumed ? undefined : frame;
        break;
      case "accepted":
        if (frame.id !== this.#id) break;
        this.messageId = frame.messageId;
        this.#mayHaveEnded ||= frame.duplicate;
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

  /** The `subscribed` frame that shows that the run ended unseen, if there is one. */
  get missedEnd(): SubscribedFrame | undefined {
    return this.#mayHaveEnded ? this.#idle : undefined;
  }
}

function* replayMissed(
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
