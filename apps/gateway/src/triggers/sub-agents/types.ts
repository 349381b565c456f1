/** A session that an agent delegates work to. `Origin` belongs to the host: everything it needs to report back. */
export interface SubAgent<Origin> {
  readonly id: string;
  readonly agentId: string;
  /** The session that created it, gives it work, and is told of the end. */
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
  /** What began all of it: the message of a person, say, whose run gave this task, or gave one that led to it. */
  readonly chain: string;
  /** Milliseconds since the epoch. */
  readonly givenAt: number;
  /** The host's id of the message that carries it; absent until the host has taken it. */
  readonly messageId?: string;
  /** Its end, once that is on its way to the parent. */
  readonly ended?: TaskOutcome;
}

/** `cut`: it ended at a limit, with what it had by then. */
export type TaskOutcome = "done" | "cut" | "failed" | "stopped";

/** How a task ended. `Gained` is the host's: what else the parent has to know, such as what tainted the work. */
export interface TaskEnd<Gained> {
  readonly outcome: TaskOutcome;
  /** What the sub-agent says, or why there is nothing. */
  readonly text: string;
  readonly gained: Gained;
}

/** How much an agent may give away. */
export interface SubAgentLimits {
  /** How far below a conversation of people sub-agents may be. */
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

/** What a host does for sub-agents. All of it may be asked for again after a crash, and is the same then. */
export interface SubAgentHost<Origin, Gained> {
  /** Puts a task before a sub-agent, and gives the id of the message. `later`: it cannot be taken just now. */
  give(subAgent: SubAgent<Origin>, task: Task<Origin>): Promise<{ readonly id: string } | "later">;
  /** The end of a message, undefined while it has none. */
  endOf(messageId: string, subAgent: SubAgent<Origin>): Promise<TaskEnd<Gained> | undefined>;
  /** Tells the parent. */
  report(
    subAgent: SubAgent<Origin>,
    task: Task<Origin>,
    end: TaskEnd<Gained>,
  ): Promise<{ readonly id: string } | "later">;
}

/** Where records are kept, by an id and as JSON. Whatever it resolves is on record. */
export interface SubAgentStore {
  list(): Promise<readonly { readonly id: string; readonly value: unknown }[]>;
  put(id: string, value: object): Promise<void>;
  remove(id: string): Promise<void>;
}
