import type { AttemptFailure, ModelErrorData, ModelEvent, StreamModel } from "@signalbox/agent-core";

/**
 * The same stream, with what vendors say of a failure passed through `redact`: they quote keys and requests, and
 * their words reach traces, people and clients.
 */
export function withRedactedErrors(stream: StreamModel, redact: (text: string) => string): StreamModel {
  const attempt = (failure: AttemptFailure): AttemptFailure => ({
    ...failure,
    message: redact(failure.message),
  });
  const error = (data: ModelErrorData): ModelErrorData => ({
    ...data,
    message: redact(data.message),
    ...(data.attempts === undefined ? {} : { attempts: data.attempts.map(attempt) }),
  });
  const event = (given: ModelEvent): ModelEvent => {
    if (given.type === "attempt") return { ...given, failure: attempt(given.failure) };
    if (given.type !== "error") return given;
    const { partial } = given;
    const cleaned = partial.error === undefined ? partial : { ...partial, error: error(partial.error) };
    return { ...given, error: error(given.error), partial: cleaned };
  };
  const result = (given: IteratorResult<ModelEvent>): IteratorResult<ModelEvent> =>
    given.done === true ? given : { done: false, value: event(given.value) };

  return (model, context, options) => {
    const events = stream(model, context, options);
    return {
      [Symbol.asyncIterator]() {
        const inner = events[Symbol.asyncIterator]();
        return {
          nextReady() {
            const ready = inner.nextReady?.();
            return ready === undefined ? undefined : event(ready);
          },
          next: () => inner.next().then(result),
          return: () => inner.return?.() ?? Promise.resolve({ done: true, value: undefined }),
        };
      },
    };
  };
}
