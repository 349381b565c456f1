import type { RunFacts, TaintSource } from "../types.ts";

/** Whose words these are, where they are not the owner's or the agent's own. */
export interface Author {
  /** What taints a run that reads them. */
  readonly source: TaintSource;
  /** The one person who wrote them, whose own runs they do not taint. Absent: they came from outside. */
  readonly by?: string;
}

/** A file or folder that holds what others wrote. */
export interface FileLabel extends Author {
  /** Absolute, without links. */
  readonly path: string;
  /** `entry`: this one, its name included. `tree`: a folder with all that is in it, now and later. */
  readonly kind: "entry" | "tree";
}

/**
 * A command whose changes are labelled when it ends. One that a crash has left open is made up for at the next start.
 */
export interface OpenCommand {
  readonly id: string;
  /** The workspace that it may write to. */
  readonly folder: string;
  /** The clock of the file system when it began, in nanoseconds since the epoch, as decimal digits. */
  readonly since: string;
  readonly author: Author;
}

/** Where labels are kept. Each method is durable once it resolves. */
export interface LabelStore {
  load(): Promise<{ readonly labels: readonly FileLabel[]; readonly commands: readonly OpenCommand[] }>;
  /** A label of the same path is replaced. */
  put(labels: readonly FileLabel[]): Promise<void>;
  remove(paths: readonly string[]): Promise<void>;
  begin(command: OpenCommand): Promise<void>;
  end(commandId: string): Promise<void>;
}

/** Labels that a restart forgets: for tests, and for hosts whose workspaces do not outlive them either. */
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

/** Who counts as the author of what a run writes; `undefined`: the owner, whom every run may trust. */
export function authorOf({ role, taint, speaker }: RunFacts): Author | undefined {
  const [mark] = taint;
  if (mark !== undefined) return { source: mark.source };
  if (role === "owner") return undefined;
  return speaker === undefined ? { source: "person" } : { source: "person", by: speaker };
}

/** Whether reading this means reading what someone else wrote. */
export function isForeign({ by }: Author, { speaker }: Pick<RunFacts, "speaker">): boolean {
  return by === undefined || by !== speaker;
}
