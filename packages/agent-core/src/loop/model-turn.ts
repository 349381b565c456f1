import type { AgentEvent, ModelStreamEvent } from "../events.ts";
import type { AssistantMessage } from "../messages.ts";
import type { Model, ModelContext, ModelEvent, StreamModel, StreamOptions } from "../model.ts";
import type { AttemptFailure } from "../model-error.ts";
import { Snapshot } from "../snapshot.ts";
import { getStopReason } from "../stop-reasons.ts";
import { race } from "./race.ts";
import { validateTurn } from "./validate-turn.ts";
import { type BrokenStream, ValidatedStream } from "./validated-stream.ts";

/** A request to a model. The signal in its options aborts it. */
export interface TurnRequest {
  readonly model: Model;
  readonly stream: StreamModel;
  readonly context: ModelContext;
  readonly options: StreamOptions;
  /**
   * Grace period in milliseconds after an abort. A stream that has not stopped by the end of it is abandoned. Default:
   * 0.
   */
  readonly graceMs?: number;
  /** Accumulates the turn as it streams, in case the stream does not end properly. */
  readonly snapshot?: Snapshot;
  readonly now: () => number;
}

/** Events that viewers receive while a turn is streaming. */
type TurnEvent = ModelStreamEvent | Extract<AgentEvent, { readonly type: "model.start" | "model.discard" }>;

/**
 * Requests one turn from a model and passes its events to `onEvent`. Always resolves with a turn: if the stream throws,
 * ends early or does not end after an abort, the turn contains what had arrived. Rejects only if `onEvent` does.
 *
 * @returns the turn, and the attempts that failed before it
 */
export async function askModel(
  request: TurnRequest,
  onEvent: (event: TurnEvent) => void | Promise<void> = () => {},
): Promise<{ readonly message: AssistantMessage; readonly failures: readonly AttemptFailure[] }> {
  const { model, context, options, graceMs, snapshot = new Snapshot() } = request;
  const stream = new ValidatedStream(() => request.stream(model, context, options));
  const failures: AttemptFailure[] = [];
  let started = false;

  const follow = async (): Promise<StreamEnd> => {
    for (;;) {
      const event = await stream.next();
      if (event.type === "finish" || event.type === "error" || event.type === "broken") return event;
      if (event.type === "start") {
        // An adapter may emit `start` for each attempt. Viewers get only the first one.
        if (!started)
          await onEvent({ type: "model.start", request: event.request, warnings: event.warnings });
        started = true;
        continue;
      }
      if (event.type === "attempt") failures.push(event.failure);
      snapshot.apply(event);
      const taken = onEvent(event);
      if (taken !== undefined) await taken;
      if (event.type === "attempt" && event.discard === true) {
        started = false;
        await onEvent({ type: "model.discard", reason: "retry", failure: event.failure });
      }
    }
  };

  snapshot.clear();
  const read = await race(follow(), { signal: options.signal, graceMs }).finally(() => stream.close());
  const end: StreamEnd = read.done ? read.value : { type: "broken", why: NO_TURN };
  return { message: getTurn(end, (why) => createBrokenTurn(request, snapshot, why)), failures };
}

type StreamEnd = Extract<ModelEvent, { readonly type: "finish" | "error" }> | BrokenStream;

const NO_TURN = "The stream ended without a valid turn.";

/** Returns the turn at the end of a stream. The stop reason of an error overrides the adapter's. */
function getTurn(end: StreamEnd, broken: (why: string) => AssistantMessage): AssistantMessage {
  if (end.type === "broken") return broken(end.why);
  if (end.type === "finish") return validateTurn(end.message) ?? broken(NO_TURN);
  const { error, partial } = end;
  const stopReason = getStopReason(error.code);
  const turn = validateTurn({ ...partial, stopReason, error });
  return turn ?? { ...broken(error.message), stopReason, error };
}

/** Creates a turn from the content that had arrived. */
function createBrokenTurn(
  { model, options, now }: TurnRequest,
  snapshot: Snapshot,
  why: string,
): AssistantMessage {
  const aborted = options.signal?.aborted === true;
  const emitted = snapshot.blocks.some(
    (block) => (block.type === "text" || block.type === "thinking") && block.text !== "",
  );
  const error = { retryable: false, emitted, scope: "provider" } as const;
  return {
    role: "assistant",
    content: snapshot.salvage(),
    api: model.api,
    provider: model.provider,
    model: model.id,
    stopReason: aborted ? "aborted" : "error",
    error: aborted
      ? { ...error, code: "aborted", message: "The run was stopped." }
      : { ...error, code: "protocol", message: why },
    timestamp: now(),
  };
}
