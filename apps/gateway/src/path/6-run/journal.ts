import type {
  AgentMessage,
  JsonObject,
  OnStep,
  Step,
  ToolCallBlock,
  ToolEffects,
} from "@signalbox/agent-core";
import type { InboxId, LeaseToken, RunId, ToolIntent } from "@signalbox/store";
import type { GatewayStore } from "../../store.ts";

export interface JournalOptions {
  readonly store: Pick<GatewayStore, "runs" | "sessions">;
  readonly lease: LeaseToken;
  readonly runId: RunId;
  readonly sessionKey: string;
  /** Places of the messages the loop starts from, its input included. */
  readonly places: readonly number[];
  readonly effects: (tool: string) => ToolEffects;
  /** Messages that came in with the steering that is about to be committed; they are the run's from then on. */
  readonly takeSteered: () => readonly InboxId[];
}

/** What a run leaves when it ends by itself. */
export interface RunTail {
  /** The last turn, to be committed together with the end of the run. */
  readonly messages: readonly AgentMessage[];
  /** Places of the whole conversation, the last turn included; `undefined` once it was compacted. */
  readonly places: readonly number[] | undefined;
}

/** Makes the steps of a run durable before the next effect happens. */
export interface Journal {
  readonly onStep: OnStep;
  /** The run has ended by itself. */
  end(): Promise<RunTail>;
  /** Commits what is held, for a run that does not end now. */
  flush(): Promise<void>;
  /** Nothing is written any more. */
  close(): void;
}

/** How long a turn waits for the results of its calls, in milliseconds, before it is committed without them. */
const PATIENCE_MS = 100;

/**
 * Some steps wait for the next one to share its commit, since between them nothing happens that could not happen
 * again: a turn whose calls have no outside effect waits for their results, and the last turn for the end of the run.
 * A call with outside effects is committed as begun before it is made, and its result at once.
 */
export function createJournal(options: JournalOptions): Journal {
  const { store, lease, runId, sessionKey } = options;
  const write = { runId, lease };
  const places = [...options.places];
  let newest = places.at(-1) ?? 0;
  let held: AgentMessage[] = [];
  /** Calls of the held turn that have no result yet. */
  const open = new Map<string, ToolIntent>();
  let compacted = false;
  let timer: NodeJS.Timeout | undefined;
  /** A commit nobody has waited for yet. */
  let behind: Promise<void> = Promise.resolve();
  let failure: { readonly error: unknown } | undefined;

  /** Takes what is held for a commit. The store numbers the messages of a session without gaps. */
  const take = (): { messages: AgentMessage[]; intents: ToolIntent[]; placed: () => void } => {
    clearTimeout(timer);
    timer = undefined;
    const messages = held;
    const intents = [...open.values()];
    held = [];
    open.clear();
    const placed = (): void => {
      for (const _ of messages) places.push(++newest);
    };
    return { messages, intents, placed };
  };
  const flush = async (inboxIds?: readonly InboxId[]): Promise<void> => {
    if (held.length === 0) return;
    const { messages, intents, placed } = take();
    await store.runs.step({ ...write, messages, intents, ...(inboxIds === undefined ? {} : { inboxIds }) });
    placed();
  };
  const settle = async (): Promise<void> => {
    await behind;
    if (failure !== undefined) throw failure.error;
  };
  const flushBehind = (): void => {
    timer = undefined;
    behind = flush().catch((error: unknown) => {
      failure = { error };
    });
  };

  const onStep = async (step: Step): Promise<void> => {
    await settle();
    switch (step.kind) {
      case "input":
        // What the run began with was committed with its beginning.
        if (step.origin === "input") return;
        held.push(...step.messages);
        return flush(options.takeSteered());
      case "assistant":
        held.push(...step.messages);
        for (const call of step.pendingToolCalls) open.set(call.id, intentOf(call, options.effects));
        if (open.size > 0) timer = setTimeout(flushBehind, PATIENCE_MS);
        return;
      case "toolStart": {
        if (options.effects(step.call.name) !== "external") return;
        const { messages, intents, placed } = take();
        await store.runs.toolStarted({ ...write, callIds: [step.call.id], messages, intents });
        return placed();
      }
      case "toolResult": {
        const untold = open.delete(step.message.toolCallId);
        held.push(...step.messages);
        if (open.size > 0) return;
        const { messages, placed } = take();
        await store.runs.toolResults({
          ...write,
          callIds: untold ? [] : [step.message.toolCallId],
          messages,
        });
        return placed();
      }
      case "compaction": {
        const upTo = places[step.replaced - 1];
        if (upTo === undefined) return;
        await flush();
        await store.sessions.compact(sessionKey, { summary: step.summary, upTo, lease });
        places.splice(0, step.replaced, ++newest);
        compacted = true;
        return;
      }
    }
  };
  return {
    onStep,
    async end() {
      await settle();
      // Calls without a result have to be told of, or nobody could answer them later.
      if (open.size > 0) await flush();
      const { messages, placed } = take();
      placed();
      return { messages, places: compacted ? undefined : places };
    },
    async flush() {
      await flush();
      await settle();
    },
    close: () => clearTimeout(timer),
  };
}

function intentOf(call: ToolCallBlock, effects: (tool: string) => ToolEffects): ToolIntent {
  const args: JsonObject = call.args ?? { unreadable: call.argsText };
  return { callId: call.id, name: call.name, args, effects: effects(call.name) };
}
