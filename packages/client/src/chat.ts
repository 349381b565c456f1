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
  /** Id of our message, once accepted. */
  let ours: string | undefined;
  /** The run may have ended where we did not see it: after a reconnect, or when the send was a repetition. */
  let mayBeOver = false;
  /** Set while the gateway's latest word is that nothing runs or waits. */
  let idle: SubscribedFrame | undefined;
  const shown = new Set<string>();
  /** Messages whose run ended before we knew which of them is ours. */
  const answered = new Set<string>();
  try {
    const sending = host.send({ ...outgoing, id });
    sending.catch((error: unknown) => frames.end(error));
    for await (const frame of frames) {
      if (frame.type === "ready") {
        idle = undefined;
        mayBeOver = ours !== undefined;
      }
      if (!isOf(frame, conversation) || (frame.type === "error" && frame.id === id)) continue;
      // What is resumed also tells how the run ended.
      if (frame.type === "subscribed") idle = frame.busy || frame.resumed ? undefined : frame;
      if (frame.type === "accepted" && frame.id === id) {
        ours = frame.messageId;
        mayBeOver ||= frame.duplicate;
      }
      if (frame.type === "message") shown.add(frame.message.id);
      // A stop that was asked for before the run began would otherwise be lost.
      if (frame.type === "run.start" && signal?.aborted) abort();
      yield frame;
      if (frame.type === "run.end") for (const id of frame.answers ?? []) answered.add(id);
      if (ours !== undefined && answered.has(ours)) return;
      if (frame.type === "run.end" && frame.answers === undefined && ours !== undefined) return;
      if (ours !== undefined && mayBeOver && idle !== undefined) {
        yield* missed((await history(conversation)).messages, ours, shown, idle);
        return;
      }
    }
    // The connection closed. If that was before the gateway took the message, the caller must know.
    if (ours === undefined) await sending;
  } finally {
    signal?.removeEventListener("abort", abort);
    release();
    frames.end();
  }
}

function* missed(
  messages: ChatMessage[],
  ours: string,
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
