import {
  type AssistantMessage,
  type ModelErrorData,
  type ModelEvent,
  type ToolCallBlock,
  textOf,
} from "@signalbox/agent-core";
import { failure } from "../failure/failure.ts";

/** A model's answer. Nothing a vendor does is thrown: check `ok`. */
export type Answer = AnswerContent &
  ({ readonly ok: true } | { readonly ok: false; readonly error: ModelErrorData });

interface AnswerContent {
  /** All text of the answer; for a failed one, what had arrived. */
  readonly text: string;
  /** Calls whose arguments could be read. */
  readonly toolCalls: readonly ToolCallBlock[];
  readonly message: AssistantMessage;
}

/** The events of a turn, and the answer they make up. */
export interface AnswerStream extends AsyncIterable<ModelEvent> {
  /** Reads the rest of the stream and returns the answer. A stream that was left early fails as `aborted`. */
  result(): Promise<Answer>;
}

/** Keeps a stream's last event for the answer; the stream has one reader at a time. */
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
      if (last?.type === "finish") return { ok: true, ...contentOf(last.message) };
      const { error, partial } = last ?? LEFT;
      return { ok: false, error, ...contentOf(partial) };
    },
  };
}

/** What there is of a stream that was left before its last event. */
const LEFT: { readonly error: ModelErrorData; readonly partial: AssistantMessage } = {
  error: { ...failure("aborted", "The stream was left before its end."), emitted: false },
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

function contentOf(message: AssistantMessage): AnswerContent {
  const calls = message.content.filter((block) => block.type === "toolCall");
  const toolCalls = calls.filter(({ args }) => args !== undefined);
  return { text: textOf(message.content), toolCalls, message };
}
