import {
  type AssistantMessage,
  type ModelErrorData,
  type ModelEvent,
  type ToolCallBlock,
  textOf,
} from "@signalbox/agent-core";
import { failure } from "../failure/failure.ts";

/** A model's answer. Failures of vendors are not thrown: check `ok`. */
export type Answer = AnswerContent &
  ({ readonly ok: true } | { readonly ok: false; readonly error: ModelErrorData });

interface AnswerContent {
  /** The text of the answer, or the part that had arrived before a failure. */
  readonly text: string;
  /** The calls with valid arguments. */
  readonly toolCalls: readonly ToolCallBlock[];
  readonly message: AssistantMessage;
}

/** The events of a turn, and the answer assembled from them. */
export interface AnswerStream extends AsyncIterable<ModelEvent> {
  /**
   * Reads the rest of the stream and returns the answer. Fails with `aborted` if the consumer left the stream early.
   */
  result(): Promise<Answer>;
}

/** Stores the stream's last event for the answer. The stream can have only one reader at a time. */
export function answerStream(stream: AsyncIterable<ModelEvent>): AnswerStream {
  const inner = stream[Symbol.asyncIterator]();
  let last: Extract<ModelEvent, { type: "finish" | "error" }> | undefined;
  const next = async (): Promise<IteratorResult<ModelEvent>> => {
    const result = await inner.next();
    const { value } = result;
    if (result.done !== true && (value.type === "finish" || value.type === "error")) last = value;
    return result;
  };
  return {
    [Symbol.asyncIterator]: () => ({
      next,
      async return() {
        await inner.return?.();
        return { done: true, value: undefined };
      },
    }),
    async result() {
      while (last === undefined && !(await next()).done);
      if (last?.type === "finish") return { ok: true, ...getContent(last.message) };
      const { error, partial } = last ?? UNREAD;
      return { ok: false, error, ...getContent(partial) };
    },
  };
}

/** The failure of a stream that the consumer left before its last event. */
const UNREAD: { readonly error: ModelErrorData; readonly partial: AssistantMessage } = {
  error: { ...failure("aborted", "The stream was not read to its end."), emitted: false },
  partial: {
    role: "assistant",
    content: [],
    api: "",
    provider: "",
    model: "",
    stopReason: "aborted",
    timestamp: 0,
  },
};

function getContent(message: AssistantMessage): AnswerContent {
  const calls = message.content.filter((block) => block.type === "toolCall");
  const toolCalls = calls.filter(({ args }) => args !== undefined);
  return { text: textOf(message.content), toolCalls, message };
}
