/**
 * A session to which an agent delegates tasks. The host defines `Origin`, which contains everything needed to report
 * back.
 */
export interface SubAgent<Origin> {
  readonly id: string;
  readonly agentId: string;
  /** Key of the session that created it and receives its reports. */
  readonly parentKey: string;
  /** Key of the sub-agent's own session. */
  readonly sessionKey: string;
  /** Short description of the sub-agent. */
  readonly label: string;
  /** 1 below a conversation with people, 2 below such a sub-agent, and so on. */
  readonly depth: number;
  /** Names of the tools that the sub-agent may use at most. */
  readonly tools: readonly string[];
  /** Tasks, oldest first. */
  readonly tasks: readonly Task<Origin>[];
}

/** A task, identified by its sub-agent's id and its key. */
export interface Task<Origin> {
  /** Key of the task. It is the same if the call is repeated after a crash. */
  readonly key: string;
  readonly text: string;
  readonly origin: Origin;
  /** Id of the message that started the chain of tasks, for example a person's message. */
  readonly chain: string;
  /** Milliseconds since the epoch. */
  readonly givenAt: number;
  /** The host's id of the message that contains the task. Absent until the host has accepted it. */
  readonly messageId?: string;
  /** The outcome of the task. Present while the report is being sent to the parent. */
  readonly ended?: TaskOutcome;
}

/** `cut`: a limit ended the task, and the text is the output up to that point. */
export type TaskOutcome = "done" | "cut" | "failed" | "stopped";

/**
 * Outcome of a task. The host defines `Gained`, which contains other facts for the parent, such as the task's taint.
 */
export interface TaskEnd<Gained> {
  readonly outcome: TaskOutcome;
  /** The sub-agent's answer, or the reason for the failure. */
  readonly text: string;
  readonly gained: Gained;
}

/** Limits of an agent's delegation. */
export interface SubAgentLimits {
  /** Maximum nesting depth below a session with people. */
  readonly maxDepth: number;
  /** Maximum number of unfinished tasks per session. */
  readonly maxAtOnce: number;
  /**
   * Maximum number of tasks that one message from a person may lead to, over all depths and including tasks caused by
   * reports.
   */
  readonly maxTasks: number;
}

/** The run that creates a task. */
export interface TaskCreator<Origin> {
  readonly agentId: string;
  readonly sessionKey: string;
  /** Depth of the run. 0 in a conversation with people. */
  readonly depth: number;
  /** See {@link Task.chain}. */
  readonly chain: string;
  readonly origin: Origin;
  readonly limits: SubAgentLimits;
  /** Key of the call. It is the same if the call is repeated. */
  readonly key: string;
}

/** Functions of the host. Calls may be repeated after a crash and must be idempotent. */
export interface SubAgentHost<Origin, Gained> {
  /** Passes a task to a sub-agent and returns the id of the message. `later`: the host cannot accept it now. */
  give(subAgent: SubAgent<Origin>, task: Task<Origin>): Promise<{ readonly id: string } | "later">;
  /** Returns the outcome of a message, or undefined if the message has not ended. */
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
