import type {
  AgentMessage,
  JsonObject,
  OnStep,
  Step,
  ToolCallBlock,
  ToolEffects,
} from "@signalbox/agent-core";
import type { InboxId, LeaseToken, RunId, ToolIntent } from "@signalbox/store";
import type { GatewayStore } from "./stored.ts";

export interface JournalOptions {
  readonly store: GatewayStore;
  readonly lease: LeaseToken;
  readonly runId: RunId;
  readonly sessionKey: string;
  /** Places of the messages the loop starts from, its input included. */
  readonly places: readonly number[];
  readonly effects: (tool: string) => ToolEffects;
  /** Messages that came in with the steering that is about to be committed; they are the run's from then on. */
  readonly takeSteered: () => readonly InboxId[];
}

/** Makes each step of a run durable before the next effect happens. */
export interface Journal {
  readonly onStep: OnStep;
  /** The last turn, which is committed together with the end of the run. Empties it. */
  takeHeld(): readonly AgentMessage[];
  /** Places of the whole conversation with the held turn behind it; `undefined` once it was compacted. */
  places(): readonly number[] | undefined;
  /** Commits the held turn by itself, for a run that does not end now. */
  flush(): Promise<void>;
}

export function createJournal(options: JournalOptions): Journal {
  const { store, lease, runId, sessionKey } = options;
  const write = { runId, lease };
  const places = [...options.places];
  let newest = places.at(-1) ?? 0;
  let held: AgentMessage[] = [];
  let compacted = false;

  /** The store numbers the messages of a session without gaps. */
  const placed = (messages: readonly AgentMessage[]): void => {
    for (const _ of messages) places.push(++newest);
  };
  const takeHeld = (): AgentMessage[] => {
    const messages = held;
    held = [];
    return messages;
  };
  const append = async (
    messages: readonly AgentMessage[],
    extra: { intents?: ToolIntent[]; inboxIds?: readonly InboxId[] } = {},
  ) => {
    const all = [...takeHeld(), ...messages];
    await store.runs.step({ ...write, messages: all, ...extra });
    placed(all);
  };

  const onStep = async (step: Step): Promise<void> => {
    switch (step.kind) {
      case "input":
        // What the run began with was committed with its beginning.
        if (step.origin === "input") return;
        return append(step.messages, { inboxIds: options.takeSteered() });
      case "assistant":
        if (step.pendingToolCalls.length > 0) {
          return append(step.messages, {
            intents: step.pendingToolCalls.map((call) => intentOf(call, options.effects)),
          });
        }
        // A turn without calls is most often the last one: it waits for the end of the run to share its commit.
        held.push(...step.messages);
        return;
      case "toolStart":
        // A call that may simply be made again needs no note that it began.
        if (options.effects(step.call.name) !== "external") return;
        return store.runs.toolStarted({ ...write, callIds: [step.call.id] });
      case "toolResult":
        await store.runs.toolResults({
          ...write,
          callIds: [step.message.toolCallId],
          messages: step.messages,
        });
        return placed(step.messages);
      case "compaction": {
        const upTo = places[step.replaced - 1];
        if (upTo === undefined) return;
        if (held.length > 0) await append([]);
        await store.sessions.compact(sessionKey, { summary: step.summary, upTo, lease });
        places.splice(0, step.replaced, ++newest);
        compacted = true;
        return;
      }
    }
  };
  return {
    onStep,
    takeHeld,
    places: () => (compacted ? undefined : [...places, ...held.map((_, index) => newest + 1 + index)]),
    async flush() {
      if (held.length > 0) await append([]);
    },
  };
}

function intentOf(call: ToolCallBlock, effects: (tool: string) => ToolEffects): ToolIntent {
  const args: JsonObject = call.args ?? { unreadable: call.argsText };
  return { callId: call.id, name: call.name, args, effects: effects(call.name) };
}
