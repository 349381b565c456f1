import type { RunFacts, TaintSource } from "../types.ts";

/** The author of content that was written by neither an owner nor the agent. */
export interface Author {
  /** The taint source for a run that reads the content. */
  readonly source: TaintSource;
  /**
   * The only person who wrote the content. The content does not taint this person's own runs. Absent if the content has
   * another origin.
   */
  readonly by?: string;
}

/** Marks a file or folder with content that others wrote. */
export interface FileLabel extends Author {
  /** Absolute path with links resolved. */
  readonly path: string;
  /** `entry`: only this file or folder, including its name. `tree`: a folder with all current and future content. */
  readonly kind: "entry" | "tree";
}

/** A running command, whose changes are labelled when it ends. If a crash prevents this, the next start labels them. */
export interface OpenCommand {
  readonly id: string;
  /** The workspace that the command may write to. */
  readonly folder: string;
  /** Time on the file system's clock when the command started: nanoseconds since the epoch, in decimal digits. */
  readonly since: string;
  readonly author: Author;
}

/** Stores labels. Each method resolves once its change is durable. */
export interface LabelStore {
  load(): Promise<{ readonly labels: readonly FileLabel[]; readonly commands: readonly OpenCommand[] }>;
  /** Adds labels. Replaces existing labels of the same paths. */
  put(labels: readonly FileLabel[]): Promise<void>;
  remove(paths: readonly string[]): Promise<void>;
  begin(command: OpenCommand): Promise<void>;
  end(commandId: string): Promise<void>;
}

/** Creates an in-memory store, for tests and for hosts whose workspaces do not outlive the process. */
export function createMemoryLabelStore(): LabelStore {
  const labels = new Map<string, FileLabel>();
  const commands = new Map<string, OpenCommand>();
  return {
    load: async () => ({ labels: [...labels.values()], commands: [...commands.values()] }),
    put: async (added) => {
      for (const label of added) labels.set(label.path, label);
    },
    remove: async (paths) => {
      for (const path of paths) labels.delete(path);
    },
    begin: async (command) => void commands.set(command.id, command),
    end: async (commandId) => void commands.delete(commandId),
  };
}

/**
 * Returns the author of the content that a run writes. Returns undefined for an untainted run of an owner, because
 * every run may trust its content.
 */
export function getAuthor({ role, taint, speaker }: RunFacts): Author | undefined {
  const [mark] = taint;
  if (mark !== undefined) return { source: mark.source };
  if (role === "owner") return undefined;
  return speaker === undefined ? { source: "person" } : { source: "person", by: speaker };
}

/** Returns true if content by this author taints the run. */
export function isForeign({ by }: Author, { speaker }: Pick<RunFacts, "speaker">): boolean {
  return by === undefined || by !== speaker;
}
