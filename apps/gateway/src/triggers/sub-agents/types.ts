/** A session that an agent delegates work to. `Origin` belongs to the host: everything it needs to report back. */
export interface SubAgent<Origin> {
  readonly id: string;
  readonly agentId: string;
  /** Key of the session that created it and receives its reports. */
  readonly parentKey: string;
  /** Its own. */
  readonly sessionKey: string;
  /** A few words by which it is known. */
  readonly label: string;
  /** 1 below a conversation of people, 2 below a sub-agent of that, and so on. */
  readonly depth: number;
  /** Names of the tools it may use at most. */
  readonly tools: readonly string[];
  /** The oldest first. */
  readonly tasks: readonly Task<Origin>[];
}

/** One piece of work. Its sub-agent's id and its key name it. */
export interface Task<Origin> {
  /** The same when the same call is made again after a crash. */
  readonly key: string;
  readonly text: string;
  readonly origin: Origin;
  /** Id of the message that started the chain of tasks, such as a person's. */
  readonly chain: string;
  /** Milliseconds since the epoch. */
  readonly givenAt: number;
  /** The host's id of the message that carries it; absent until the host has taken it. */
  readonly messageId?: string;
  /** Its end, once that is on its way to the parent. */
  readonly ended?: TaskOutcome;
}

/** `cut`: a limit ended the task; the text is what it had by then. */
export type TaskOutcome = "done" | "cut" | "failed" | "stopped";

/** How a task ended. `Gained` is defined by the host: other facts that the parent needs, such as the task's taint. */
export interface TaskEnd<Gained> {
  readonly outcome: TaskOutcome;
  /** The sub-agent's answer, or the reason why there is none. */
  readonly text: string;
  readonly gained: Gained;
}

/** Limits of an agent's delegation. */
export interface SubAgentLimits {
  /** Maximum nesting depth below a session with people. */
  readonly maxDepth: number;
  /** Tasks of one session that have no end yet. */
  readonly maxAtOnce: number;
  /** Tasks that one message of a person may lead to, over all depths and all that reports lead to. */
  readonly maxTasks: number;
}

/** The run that gives a task. */
export interface Giver<Origin> {
  readonly agentId: string;
  readonly sessionKey: string;
  /** 0 in a conversation of people. */
  readonly depth: number;
  /** See {@link Task.chain}. */
  readonly chain: string;
  readonly origin: Origin;
  readonly limits: SubAgentLimits;
  /** Of the call that gives it: the same when it is made again. */
  readonly key: string;
}

/** What a host does for sub-agents. Calls may be repeated after a crash and must be idempotent. */
export interface SubAgentHost<Origin, Gained> {
  /** Puts a task before a sub-agent, and gives the id of the message. `later`: it cannot be taken just now. */
  give(subAgent: SubAgent<Origin>, task: Task<Origin>): Promise<{ readonly id: string } | "later">;
  /** The end of a message, undefined while it has none. */
  endOf(messageId: string, subAgent: SubAgent<Origin>): Promise<TaskEnd<Gained> | undefined>;
  /** Sends a report to the parent. */
  report(
    subAgent: SubAgent<Origin>,
    task: Task<Origin>,
    end: TaskEnd<Gained>,
  ): Promise<{ readonly id: string } | "later">;
}

/** Stores JSON records by id. Data is durable once a promise resolves. */
export interface SubAgentStore {
  list(): Promise<readonly { readonly id: string; readonly value: unknown }[]>;
  put(id: string, value: object): Promise<void>;
  remove(id: string): Promise<void>;
}
