import { createHash } from "node:crypto";
import type { z } from "zod";
import { checkDepth, checkNumber, SubAgentError } from "./limits.ts";
import { createRecords } from "./records.ts";
import type { Giver, SubAgent, SubAgentHost, SubAgentStore, Task } from "./types.ts";

export interface SubAgentsOptions<Origin> {
  readonly store: SubAgentStore;
  /** Reads what the host put on record. */
  readonly origin: z.ZodType<Origin>;
  /** The session key of a new sub-agent. */
  readonly sessionKey: (agentId: string, id: string) => string;
  readonly logger: { warn(fields: object, message: string): void };
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

export interface NewSubAgent {
  readonly label: string;
  readonly text: string;
  /** Names of the tools it may use at most: those of the giver's run, or fewer. */
  readonly tools: readonly string[];
}

/** Work that agents give to sessions of their own. */
export interface SubAgents<Origin, Gained> {
  /** Takes up what an earlier process left, and begins to hand over. */
  start(host: SubAgentHost<Origin, Gained>): Promise<void>;
  /** Makes a sub-agent and gives it its first task. @throws SubAgentError where a limit says no */
  spawn(wanted: NewSubAgent, giver: Giver<Origin>): Promise<SubAgent<Origin>>;
  /** Gives one of the giver's own sub-agents another task. @throws SubAgentError */
  send(id: string, text: string, giver: Giver<Origin>): Promise<SubAgent<Origin>>;
  /** Those that a session has made, the newest first. */
  of(sessionKey: string): Promise<readonly SubAgent<Origin>[]>;
  /** How many tasks have no end yet that somebody was told of. */
  countOpen(): Promise<number>;
  /** To be told of the end of every message: its parent hears of it where it carried a task. */
  ended(messageId: string): void;
  /**
   * Hands over what could not be handed over, and reports ends that nobody was told of. To be called every so often.
   */
  recover(): Promise<void>;
  /** Resolves once nothing is under way any more. */
  stop(): Promise<void>;
}

/** Records of sub-agents without open tasks are kept for so long, in milliseconds. */
const KEPT_MS = 7 * 24 * 60 * 60_000;

/**
 * Each task goes from the record to the host, and its end from the host to the parent. A task is on record before it is
 * handed over, and its end is noted only once the parent's message is on record, each under a name that stays the same:
 * so a crash in between repeats a step that the host knows already, and loses none.
 */
export function createSubAgents<Origin, Gained>(
  options: SubAgentsOptions<Origin>,
): SubAgents<Origin, Gained> {
  const { logger, now } = options;
  const records = createRecords(options.store, options.origin, (id) =>
    logger.warn({ subAgent: id }, "the record of a sub-agent cannot be read"),
  );
  /** Messages that carry open tasks, so that the end of any other costs nothing. */
  const carrying = new Set<string>();
  /** Undefined while it is not running. */
  let host: SubAgentHost<Origin, Gained> | undefined;
  let working: Promise<unknown> = Promise.resolve();

  /** Changes of records, one after the other. */
  function inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = working.then(work);
    working = result.catch(() => {});
    return result;
  }

  async function update(
    subAgent: SubAgent<Origin>,
    key: string,
    change: Pick<Task<Origin>, "messageId"> | Pick<Task<Origin>, "ended">,
  ): Promise<SubAgent<Origin>> {
    const tasks = subAgent.tasks.map((task) => (task.key === key ? { ...task, ...change } : task));
    const changed = { ...subAgent, tasks };
    await records.put(changed);
    return changed;
  }

  /** Puts a task on record, and then before the sub-agent. One that is on record already is handed over again. */
  async function give(before: SubAgent<Origin>, task: Task<Origin>): Promise<SubAgent<Origin>> {
    const isNew = before.tasks.every(({ key }) => key !== task.key);
    const subAgent = isNew ? { ...before, tasks: [...before.tasks, task] } : before;
    if (isNew) await records.put(subAgent);
    return handOver(subAgent, task);
  }

  async function handOver(subAgent: SubAgent<Origin>, task: Task<Origin>): Promise<SubAgent<Origin>> {
    const given = await host?.give(subAgent, task);
    // It stays on record, and is tried again.
    if (given === undefined || given === "later") return subAgent;
    carrying.add(given.id);
    return update(subAgent, task.key, { messageId: given.id });
  }

  async function report(subAgent: SubAgent<Origin>, task: Task<Origin>): Promise<SubAgent<Origin>> {
    const { messageId } = task;
    if (host === undefined || messageId === undefined) return subAgent;
    const end = await host.endOf(messageId, subAgent);
    if (end === undefined) return subAgent;
    const told = await host.report(subAgent, task, end);
    if (told === "later") return subAgent;
    await expectAnswer(subAgent, task, told.id);
    carrying.delete(messageId);
    return update(subAgent, task.key, { ended: end.outcome });
  }

  /** Where the parent is a sub-agent itself, what it makes of the report is work that its own parent hears of. */
  async function expectAnswer(child: SubAgent<Origin>, task: Task<Origin>, messageId: string): Promise<void> {
    const parent = (await records.all()).find(({ sessionKey }) => sessionKey === child.parentKey);
    const first = parent?.tasks[0];
    if (parent === undefined || first === undefined) return;
    const key = `${child.id}/${task.key}`;
    const { chain } = task;
    const answer: Task<Origin> = { key, text: "", origin: first.origin, chain, givenAt: now(), messageId };
    carrying.add(messageId);
    if (parent.tasks.every((each) => each.key !== key))
      await records.put({ ...parent, tasks: [...parent.tasks, answer] });
  }

  async function goOn(id: string, key: string): Promise<void> {
    const subAgent = (await records.all()).find((each) => each.id === id);
    const task = subAgent?.tasks.find((each) => each.key === key);
    if (subAgent === undefined || task === undefined || task.ended !== undefined) return;
    if (task.messageId !== undefined) carrying.add(task.messageId);
    await (task.messageId === undefined ? handOver(subAgent, task) : report(subAgent, task));
  }

  async function recover(): Promise<void> {
    for (const { id, tasks } of await records.all()) {
      if (isOver(tasks, now())) await inTurn(() => records.remove(id));
      for (const { key, ended } of tasks)
        if (ended === undefined)
          await inTurn(() => goOn(id, key)).catch((error: unknown) => failed(id, error));
    }
  }

  function failed(subAgent: string, error: unknown): void {
    logger.warn({ subAgent, err: String(error) }, "work on a sub-agent is tried again");
  }

  return {
    async start(given) {
      host = given;
      await recover();
    },
    spawn: ({ label, text, tools }, giver) =>
      inTurn(async () => {
        const id = createHash("sha256").update(`${giver.sessionKey} ${giver.key}`).digest("hex").slice(0, 12);
        const all = await records.all();
        const before = all.find((each) => each.id === id);
        if (before === undefined) {
          checkDepth(giver);
          checkNumber(all, giver);
        }
        const { agentId, sessionKey: parentKey } = giver;
        const sessionKey = options.sessionKey(agentId, id);
        const depth = giver.depth + 1;
        const made = { id, agentId, parentKey, sessionKey, label, depth, tools, tasks: [] };
        return give(before ?? made, taskOf(text, giver, now()));
      }),
    send: (id, text, giver) =>
      inTurn(async () => {
        const all = await records.all();
        const subAgent = all.find((each) => each.id === id && each.parentKey === giver.sessionKey);
        if (subAgent === undefined)
          throw new SubAgentError(
            "unknown",
            `There is no sub-agent ${id} of yours. sessions_list shows them.`,
          );
        if (subAgent.tasks.every(({ key }) => key !== giver.key)) checkNumber(all, giver);
        return give(subAgent, taskOf(text, giver, now()));
      }),
    async of(sessionKey) {
      const own = (await records.all()).filter(({ parentKey }) => parentKey === sessionKey);
      return own.toSorted((a, b) => lastGiven(b.tasks) - lastGiven(a.tasks));
    },
    async countOpen() {
      const tasks = (await records.all()).flatMap((subAgent) => subAgent.tasks);
      return tasks.filter(({ ended }) => ended === undefined).length;
    },
    ended(messageId) {
      if (!carrying.has(messageId)) return;
      void inTurn(async () => {
        for (const { id, tasks } of await records.all())
          for (const task of tasks) if (task.messageId === messageId) await goOn(id, task.key);
      }).catch((error: unknown) => failed(messageId, error));
    },
    recover,
    async stop() {
      await working;
      host = undefined;
    },
  };
}

function taskOf<Origin>(text: string, { key, chain, origin }: Giver<Origin>, givenAt: number): Task<Origin> {
  return { key, text, origin, chain, givenAt };
}

function isOver(tasks: readonly Task<unknown>[], now: number): boolean {
  return tasks.every(({ ended }) => ended !== undefined) && now - lastGiven(tasks) > KEPT_MS;
}

function lastGiven(tasks: readonly Task<unknown>[]): number {
  return tasks.at(-1)?.givenAt ?? 0;
}
