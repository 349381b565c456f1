import type { AgentEvent, ModelStreamEvent } from "../events.ts";
import type { AssistantMessage } from "../messages.ts";
import type { Model, ModelContext, ModelEvent, StreamModel, StreamOptions } from "../model.ts";
import { Snapshot } from "../snapshot.ts";
import { getStopReason } from "../stop-reasons.ts";
import { addUsage, NO_USAGE, type Usage } from "../usage.ts";
import { race } from "./race.ts";
import { validateTurn } from "./validate-turn.ts";
import { type BrokenStream, ValidatedStream } from "./validated-stream.ts";

/** One request to a model, which the signal of its options ends. */
export interface TurnRequest {
  readonly model: Model;
  readonly stream: StreamModel;
  readonly context: ModelContext;
  readonly options: StreamOptions;
  /** Milliseconds after its last event at which a stream that does not stop is abandoned; default 0. */
  readonly graceMs?: number;
  /** Follows the turn as it streams, also for the case that the stream never says itself what it came to. */
  readonly snapshot?: Snapshot;
  readonly now: () => number;
}

/** What viewers see of a turn while it streams. */
type TurnEvent = ModelStreamEvent | Extract<AgentEvent, { readonly type: "model.start" | "model.discard" }>;

/**
 * Asks a model for one turn and passes its events on as they come. Resolves with a turn whatever the stream does: one
 * that throws, ends early or does not end after an abort gives a turn of what had arrived. `spentBefore` is what
 * attempts used that another one followed. Rejects only when `onEvent` does.
 */
export async function askModel(
  request: TurnRequest,
  onEvent: (event: TurnEvent) => void | Promise<void> = () => {},
): Promise<{ readonly message: AssistantMessage; readonly spentBefore: Usage }> {
  const { model, context, options, graceMs, snapshot = new Snapshot() } = request;
  const stream = new ValidatedStream(() => request.stream(model, context, options));
  let spentBefore = NO_USAGE;
  let started = false;

  const follow = async (): Promise<StreamEnd> => {
    for (;;) {
      const event = await stream.next();
      if (event.type === "finish" || event.type === "error" || event.type === "broken") return event;
      if (event.type === "start") {
        // An adapter that tries again may say so again; viewers are told once.
        if (!started)
          await onEvent({ type: "model.start", request: event.request, warnings: event.warnings });
        started = true;
        continue;
      }
      if (event.type === "attempt") spentBefore = addUsage(spentBefore, event.failure.usage ?? NO_USAGE);
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
  return { message: turnOf(end, (why) => brokenTurn(request, snapshot, why)), spentBefore };
}

type StreamEnd = Extract<ModelEvent, { readonly type: "finish" | "error" }> | BrokenStream;

const NO_TURN = "The stream ended with something that is no turn.";

/** The turn a stream ended in. One that ended in an error says so itself, whatever the adapter wrote into it. */
function turnOf(end: StreamEnd, broken: (why: string) => AssistantMessage): AssistantMessage {
  if (end.type === "broken") return broken(end.why);
  if (end.type === "finish") return validateTurn(end.message) ?? broken(NO_TURN);
  const { error, partial } = end;
  const stopReason = getStopReason(error.code);
  const turn = validateTurn({ ...partial, stopReason, error });
  return turn ?? { ...broken(error.message), stopReason, error };
}

/** A turn of what had arrived. */
function brokenTurn({ model, options, now }: TurnRequest, snapshot: Snapshot, why: string): AssistantMessage {
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
