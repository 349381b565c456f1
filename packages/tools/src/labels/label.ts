import type { RunFacts, TaintSource } from "../types.ts";

/** The author of content that neither an owner nor the agent wrote. */
export interface Author {
  /** The taint of a run that reads the content. */
  readonly source: TaintSource;
  /**
   * The only person who wrote the content. It does not taint this person's own runs. Absent if it came from elsewhere.
   */
  readonly by?: string;
}

/** Marks a file or folder with content that others wrote. */
export interface FileLabel extends Author {
  /** Absolute path with links resolved. */
  readonly path: string;
  /** `entry`: only this file or folder, including its name. `tree`: a folder with everything in it, now and later. */
  readonly kind: "entry" | "tree";
}

/** A running command, whose changes are labelled when it ends. If a crash prevents this, the next start labels them. */
export interface OpenCommand {
  readonly id: string;
  /** The workspace that the command may write to. */
  readonly folder: string;
  /** Time of the file system's clock at the start of the command: nanoseconds since the epoch, in decimal digits. */
  readonly since: string;
  readonly author: Author;
}

/** Stores labels. Each method is durable once it resolves. */
export interface LabelStore {
  load(): Promise<{ readonly labels: readonly FileLabel[]; readonly commands: readonly OpenCommand[] }>;
  /** Adds labels. Replaces existing labels of the same paths. */
  put(labels: readonly FileLabel[]): Promise<void>;
  remove(paths: readonly string[]): Promise<void>;
  begin(command: OpenCommand): Promise<void>;
  end(commandId: string): Promise<void>;
}

/** Creates a store in memory, for tests and for hosts whose workspaces do not outlive the process. */
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
 * Returns the author of content that a run writes. Returns undefined for an untainted run of an owner, which every run
 * may trust.
 */
export function getAuthor({ role, taint, speaker }: RunFacts): Author | undefined {
  const [mark] = taint;
  if (mark !== undefined) return { source: mark.source };
  if (role === "owner") return undefined;
  return speaker === undefined ? { source: "person" } : { source: "person", by: speaker };
}

/** Returns true if content of this author taints the run. */
export function isForeign({ by }: Author, { speaker }: Pick<RunFacts, "speaker">): boolean {
  return by === undefined || by !== speaker;
}
