import { z } from "zod";
import { createMemorySubAgentStore } from "../../../src/triggers/sub-agents/records.ts";
import { createSubAgents } from "../../../src/triggers/sub-agents/sub-agents.ts";
import type {
  SubAgentHost,
  SubAgentLimits,
  SubAgentStore,
  TaskCreator,
  TaskEnd,
} from "../../../src/triggers/sub-agents/types.ts";

export const LIMITS: SubAgentLimits = { maxDepth: 1, maxAtOnce: 2, maxTasks: 4 };

/** What is on the disk: the records, and the messages that a host has taken, by the name that each always has. */
export interface Disk {
  readonly store: SubAgentStore;
  readonly messages: Map<string, { readonly session: string; readonly text: string }>;
  readonly ends: Map<string, TaskEnd<string>>;
}

export function newDisk(): Disk {
  return { store: createMemorySubAgentStore(), messages: new Map(), ends: new Map() };
}

/** A process dies at its next step of that number, counted from 1. */
export class Death extends Error {
  override readonly name = "Death";
}

interface Process {
  readonly full?: () => boolean;
  readonly diesAt?: number;
  readonly now?: () => number;
  readonly isOwn?: (subAgent: { readonly parentKey: string }) => boolean;
}

type Step = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** Writes to a store in steps. */
class SteppedStore implements SubAgentStore {
  readonly #store: SubAgentStore;
  readonly #step: Step;

  constructor(store: SubAgentStore, step: Step) {
    this.#store = store;
    this.#step = step;
  }

  list() {
    return this.#store.list();
  }

  put(id: string, value: object) {
    return this.#step(() => this.#store.put(id, value));
  }

  remove(id: string) {
    return this.#step(() => this.#store.remove(id));
  }
}

/** A process over a disk. Each step that reaches the disk can be its last, before or after it is done. */
export function openProcess(
  disk: Disk,
  { full = () => false, diesAt, now = () => 0, isOwn = () => true }: Process = {},
) {
  let steps = 0;
  const step: Step = async (work) => {
    if (diesAt !== undefined && ++steps >= diesAt) throw new Death("before a step");
    const result = await work();
    if (diesAt !== undefined && ++steps >= diesAt) throw new Death("after a step");
    return result;
  };
  const take = (name: string, session: string, text: string): Promise<{ id: string } | "later"> =>
    step(async () => {
      if (full()) return "later";
      disk.messages.set(name, { session, text });
      return { id: name };
    });
  const host: SubAgentHost<string, string> = {
    give: ({ id, sessionKey }, { key, text }) => take(`task:${id}:${key}`, sessionKey, text),
    endOf: async (messageId) => disk.ends.get(messageId),
    report: ({ id, parentKey }, { key }, { outcome, text, gained }) =>
      take(`report:${id}:${key}`, parentKey, `${outcome}: ${text} (${gained})`),
  };
  const subAgents = createSubAgents<string, string>({
    store: new SteppedStore(disk.store, step),
    origin: z.string(),
    sessionKey: (agentId, id) => `${agentId}/${id}`,
    logger: { warn: () => {} },
    now,
    isOwn,
  });
  return { subAgents, host };
}

export function giver(key: string, more: Partial<TaskCreator<string>> = {}): TaskCreator<string> {
  const origin = "from the chat";
  return {
    agentId: "coder",
    sessionKey: "chat",
    depth: 0,
    chain: "m1",
    origin,
    limits: LIMITS,
    key,
    ...more,
  };
}
