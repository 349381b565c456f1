import { createHash } from "node:crypto";
import type { z } from "zod";
import { checkDepth, checkNumber, SubAgentError } from "./limits.ts";
import { createRecords, type Records } from "./records.ts";
import type { SubAgent, SubAgentHost, SubAgentStore, Task, TaskCreator } from "./types.ts";

export interface SubAgentsOptions<Origin> {
  readonly store: SubAgentStore;
  /** Parses a stored origin. */
  readonly origin: z.ZodType<Origin>;
  /** Creates the session key of a new sub-agent. */
  readonly sessionKey: (agentId: string, id: string) => string;
  /** Returns true if a sub-agent's session can run where its parent's session runs. Default: always true */
  readonly isTogether?: (agentId: string, sessionKey: string, parentKey: string) => boolean;
  readonly logger: { warn(fields: object, message: string): void };
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Returns false for sub-agents of sessions that another process executes. Default: always true */
  readonly isOwn?: (subAgent: SubAgent<Origin>) => boolean;
}

interface NewSubAgent {
  readonly label: string;
  readonly text: string;
  /** Names of the tools that the sub-agent may use at most: the tools of the creating run, or fewer. */
  readonly tools: readonly string[];
}

/** Tasks that agents delegate to separate sessions. */
export interface SubAgents<Origin, Gained> {
  /** Loads the records from an earlier process and starts to pass on tasks. */
  start(host: SubAgentHost<Origin, Gained>): Promise<void>;
  /**
   * Creates a sub-agent with its first task.
   *
   * @throws SubAgentError if a limit is exceeded
   */
  spawn(wanted: NewSubAgent, creator: TaskCreator<Origin>): Promise<SubAgent<Origin>>;
  /**
   * Adds a task to a sub-agent that the caller created.
   *
   * @throws SubAgentError if a limit is exceeded, or if the caller has no such sub-agent
   */
  send(id: string, text: string, creator: TaskCreator<Origin>): Promise<SubAgent<Origin>>;
  /** Returns the sub-agents that a session created, newest first. */
  of(sessionKey: string): Promise<readonly SubAgent<Origin>[]>;
  /** Returns the number of tasks whose end was not reported yet. */
  countOpen(): Promise<number>;
  /** Call this at the end of every message. If the message contained a task, the parent gets a report. */
  ended(messageId: string): void;
  /** Retries failed deliveries of tasks and reports. Call this at intervals. */
  recover(): Promise<void>;
  /** Resolves when no task or report is being passed on. */
  stop(): Promise<void>;
}

/** Retention of ended tasks, and of sub-agents without other tasks, in milliseconds. */
const RETENTION_MS = 7 * 24 * 60 * 60_000;

/**
 * Passes each task to the host, and its end to the parent. A task is recorded before it is passed on, and its end is
 * recorded only after the parent's message. All steps have stable ids, so after a crash a step may be repeated, which
 * the host recognizes, but no step is lost.
 */
export function createSubAgents<Origin, Gained>(
  options: SubAgentsOptions<Origin>,
): SubAgents<Origin, Gained> {
  return new StoredSubAgents(options);
}

class StoredSubAgents<Origin, Gained> implements SubAgents<Origin, Gained> {
  readonly #options: SubAgentsOptions<Origin>;
  readonly #records: Records<Origin>;
  /** Ids of messages that contain open tasks, so that the end of any other message requires no work. */
  readonly #carrying = new Set<string>();
  /** Undefined if stopped. */
  #host: SubAgentHost<Origin, Gained> | undefined;
  #working: Promise<unknown> = Promise.resolve();

  constructor(options: SubAgentsOptions<Origin>) {
    this.#options = options;
    this.#records = createRecords(options.store, options.origin, (id) =>
      options.logger.warn({ subAgent: id }, "the record of a sub-agent cannot be read"),
    );
  }

  async start(given: SubAgentHost<Origin, Gained>): Promise<void> {
    this.#host = given;
    await this.recover();
  }

  spawn({ label, text, tools }: NewSubAgent, creator: TaskCreator<Origin>): Promise<SubAgent<Origin>> {
    return this.#inTurn(async () => {
      const id = this.#createId(creator);
      const all = await this.#records.all();
      const before = all.find((each) => each.id === id);
      if (before === undefined) {
        checkDepth(creator);
        checkNumber(all, creator);
      }
      const { agentId, sessionKey: parentKey } = creator;
      const sessionKey = this.#options.sessionKey(agentId, id);
      const depth = creator.depth + 1;
      const made = { id, agentId, parentKey, sessionKey, label, depth, tools, tasks: [] };
      return this.#give(before ?? made, createTask(text, creator, this.#options.now()));
    });
  }

  /** Creates the same id if the spawn is repeated. */
  #createId({ agentId, sessionKey: parentKey, key }: TaskCreator<Origin>): string {
    const { sessionKey, isTogether = () => true } = this.#options;
    for (let attempt = 0; ; attempt += 1) {
      const seed = `${parentKey} ${key}${attempt === 0 ? "" : ` ${attempt}`}`;
      const id = createHash("sha256").update(seed).digest("hex").slice(0, 12);
      if (isTogether(agentId, sessionKey(agentId, id), parentKey)) return id;
    }
  }

  send(id: string, text: string, creator: TaskCreator<Origin>): Promise<SubAgent<Origin>> {
    return this.#inTurn(async () => {
      const all = await this.#records.all();
      const subAgent = all.find((each) => each.id === id && each.parentKey === creator.sessionKey);
      if (subAgent === undefined)
        throw new SubAgentError("unknown", `There is no sub-agent ${id} of yours. sessions_list shows them.`);
      if (subAgent.tasks.every(({ key }) => key !== creator.key)) checkNumber(all, creator);
      return this.#give(subAgent, createTask(text, creator, this.#options.now()));
    });
  }

  async of(sessionKey: string): Promise<readonly SubAgent<Origin>[]> {
    const own = (await this.#records.all()).filter(({ parentKey }) => parentKey === sessionKey);
    return own.toSorted((a, b) => getLastCreation(b.tasks) - getLastCreation(a.tasks));
  }

  async countOpen(): Promise<number> {
    const tasks = (await this.#records.all()).flatMap((subAgent) => subAgent.tasks);
    return tasks.filter(({ ended }) => ended === undefined).length;
  }

  ended(messageId: string): void {
    if (!this.#carrying.has(messageId)) return;
    void this.#inTurn(async () => {
      for (const { id, tasks } of await this.#records.all())
        for (const task of tasks) if (task.messageId === messageId) await this.#goOn(id, task.key);
    }).catch((error: unknown) => this.#failed(messageId, error));
  }

  async recover(): Promise<void> {
    const { isOwn = () => true } = this.#options;
    for (const { id, tasks } of (await this.#records.all()).filter(isOwn)) {
      if (tasks.some((task) => this.#isOver(task))) await this.#try(id, () => this.#forget(id));
      for (const { key, ended } of tasks)
        if (ended === undefined) await this.#try(id, () => this.#goOn(id, key));
    }
  }

  async stop(): Promise<void> {
    await this.#working;
    this.#host = undefined;
  }

  /** Runs changes to records one after the other. */
  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#working.then(work);
    this.#working = result.catch(() => {});
    return result;
  }

  async #update(
    subAgent: SubAgent<Origin>,
    key: string,
    change: Pick<Task<Origin>, "messageId"> | Pick<Task<Origin>, "ended">,
  ): Promise<SubAgent<Origin>> {
    const tasks = subAgent.tasks.map((task) => (task.key === key ? { ...task, ...change } : task));
    const changed = { ...subAgent, tasks };
    await this.#records.put(changed);
    return changed;
  }

  /** Records a task and then passes it to the sub-agent. A task that is already recorded is passed on again. */
  async #give(before: SubAgent<Origin>, task: Task<Origin>): Promise<SubAgent<Origin>> {
    const isNew = before.tasks.every(({ key }) => key !== task.key);
    const subAgent = isNew ? { ...before, tasks: [...before.tasks, task] } : before;
    if (isNew) await this.#records.put(subAgent);
    return this.#handOver(subAgent, task);
  }

  async #handOver(subAgent: SubAgent<Origin>, task: Task<Origin>): Promise<SubAgent<Origin>> {
    const given = await this.#host?.give(subAgent, task);
    // The task stays recorded and is retried.
    if (given === undefined || given === "later") return subAgent;
    this.#carrying.add(given.id);
    return this.#update(subAgent, task.key, { messageId: given.id });
  }

  async #report(subAgent: SubAgent<Origin>, task: Task<Origin>): Promise<SubAgent<Origin>> {
    const { messageId } = task;
    if (this.#host === undefined || messageId === undefined) return subAgent;
    const end = await this.#host.endOf(messageId, subAgent);
    if (end === undefined) return subAgent;
    const told = await this.#host.report(subAgent, task, end);
    if (told === "later") return subAgent;
    await this.#expectAnswer(subAgent, task, told.id);
    this.#carrying.delete(messageId);
    return this.#update(subAgent, task.key, { ended: end.outcome });
  }

  /** If the parent is a sub-agent, its answer to the report goes to its own parent. */
  async #expectAnswer(child: SubAgent<Origin>, task: Task<Origin>, messageId: string): Promise<void> {
    const parent = (await this.#records.all()).find(({ sessionKey }) => sessionKey === child.parentKey);
    const first = parent?.tasks[0];
    if (parent === undefined || first === undefined) return;
    const key = `${child.id}/${task.key}`;
    const { chain } = task;
    const answer: Task<Origin> = {
      key,
      text: "",
      origin: first.origin,
      chain,
      givenAt: this.#options.now(),
      messageId,
    };
    this.#carrying.add(messageId);
    if (parent.tasks.every((each) => each.key !== key))
      await this.#records.put({ ...parent, tasks: [...parent.tasks, answer] });
  }

  async #goOn(id: string, key: string): Promise<void> {
    const subAgent = (await this.#records.all()).find((each) => each.id === id);
    const task = subAgent?.tasks.find((each) => each.key === key);
    if (subAgent === undefined || task === undefined || task.ended !== undefined) return;
    if (task.messageId !== undefined) this.#carrying.add(task.messageId);
    await (task.messageId === undefined ? this.#handOver(subAgent, task) : this.#report(subAgent, task));
  }

  /** Removes ended tasks, and sub-agents without other tasks. */
  async #forget(id: string): Promise<void> {
    const subAgent = (await this.#records.all()).find((each) => each.id === id);
    if (subAgent === undefined) return;
    const tasks = subAgent.tasks.filter((task) => !this.#isOver(task));
    await (tasks.length === 0 ? this.#records.remove(id) : this.#records.put({ ...subAgent, tasks }));
  }

  #isOver({ ended, givenAt }: Task<Origin>): boolean {
    return ended !== undefined && this.#options.now() - givenAt > RETENTION_MS;
  }

  /** Logs a failure so that other tasks continue. */
  #try(id: string, work: () => Promise<void>): Promise<void> {
    return this.#inTurn(work).catch((error: unknown) => this.#failed(id, error));
  }

  #failed(subAgent: string, error: unknown): void {
    this.#options.logger.warn({ subAgent, err: String(error) }, "work on a sub-agent will be retried");
  }
}

function createTask<Origin>(
  text: string,
  { key, chain, origin }: TaskCreator<Origin>,
  givenAt: number,
): Task<Origin> {
  return { key, text, origin, chain, givenAt };
}

function getLastCreation(tasks: readonly Task<unknown>[]): number {
  return tasks.at(-1)?.givenAt ?? 0;
}
