import type { AgentEvent, ModelStreamEvent } from "../events.ts";
import type { AssistantMessage, StopReason } from "../messages.ts";
import type { Model, ModelContext, StreamModel, StreamOptions } from "../model.ts";
import type { ModelErrorData } from "../model-error.ts";
import { Snapshot } from "../snapshot.ts";
import { addUsage, NO_USAGE, type Usage } from "../usage.ts";
import { race } from "./race.ts";
import { type BrokenStream, type LastEvent, type OngoingEvent, SoundStream } from "./sound-stream.ts";
import { soundTurn } from "./sound-turn.ts";

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
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

export interface ModelTurn {
  readonly message: AssistantMessage;
  /** What attempts used that another one followed. */
  readonly spentBefore: Usage;
}

/** What viewers see of a turn while it streams. */
type TurnEvent = ModelStreamEvent | Extract<AgentEvent, { readonly type: "model.start" | "model.discard" }>;

/**
 * Asks a model for one turn and passes its events on as they come. Resolves with a turn whatever the stream does: one
 * that throws, ends early or does not end after an abort gives a turn of what had arrived. Rejects only when `onEvent`
 * does.
 */
export async function askModel(
  request: TurnRequest,
  onEvent: (event: TurnEvent) => void | Promise<void> = () => {},
): Promise<ModelTurn> {
  const { model, context, options, graceMs, snapshot = new Snapshot() } = request;
  let spentBefore = NO_USAGE;
  let started = false;

  const take = (event: OngoingEvent): void | Promise<void> => {
    if (event.type === "start") {
      // An adapter that tries again may say so again; viewers are told once.
      if (started) return;
      started = true;
      return onEvent({ type: "model.start", request: event.request, warnings: event.warnings });
    }
    snapshot.apply(event);
    return event.type === "attempt" ? takeAttempt(event) : onEvent(event);
  };
  const takeAttempt = async (event: Extract<OngoingEvent, { type: "attempt" }>): Promise<void> => {
    const { failure, discard } = event;
    if (failure.usage !== undefined) spentBefore = addUsage(spentBefore, failure.usage);
    await onEvent(event);
    if (discard !== true) return;
    started = false;
    await onEvent({ type: "model.discard", reason: "retry", failure });
  };

  snapshot.clear();
  const stream = new SoundStream(() => request.stream(model, context, options));
  const read = await race(stream.read(take), { signal: options.signal, graceMs });
  stream.close();
  const end: LastEvent | BrokenStream = read.done ? read.value : { type: "broken", why: NO_TURN };
  const message = turnOf(end) ?? brokenTurn(request, snapshot, end.type === "broken" ? end.why : NO_TURN);
  return { message, spentBefore };
}

const NO_TURN = "The stream ended with something that is no turn.";

/** The turn a stream ended in. One that ended in an error says so itself, whatever the adapter wrote into it. */
function turnOf(end: LastEvent | BrokenStream): AssistantMessage | undefined {
  if (end.type === "broken") return undefined;
  if (end.type === "finish") return soundTurn(end.message);
  const { error, partial } = end;
  return soundTurn({ ...partial, stopReason: stopReasonOf(error), error });
}

function stopReasonOf({ code }: ModelErrorData): StopReason {
  if (code === "aborted") return "aborted";
  return code === "overflow" ? "context_overflow" : "error";
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
