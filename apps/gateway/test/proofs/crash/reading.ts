import type { Evidence, Post } from "./evidence.ts";

/** Notes one promise that was broken. */
export type Blame = (text: string) => void;

export const ENDS = new Set([
  "replied",
  "silent",
  "ignored",
  "failed-reported",
  "unreported",
  "expired-reported",
]);

/** Errors of tools that a failpoint, a full disk or a database server that is down prevented from working. */
export const INJECTED =
  /failpoint|[Nn]o space left|ENOSPC|disk I\/O error|The disk is full|the disk is nearly full|The database server cannot be reached/;

/** What it is told where a command in the background ended with its process, or too many were left to their end. */
export const NOT_IN_BACKGROUND =
  /There is no command \w+ in the background|commands (are )?in the background( right now|\. End one)/;

export interface Conversations {
  /** Messages one of whose calls the model was told to have an unknown outcome. */
  readonly unknown: ReadonlySet<string>;
  /** Messages whose command in the background it was told to have ended well. */
  readonly ended: ReadonlySet<string>;
  /** Messages one of whose calls failed, with what the model was told of each that did, in their order. */
  readonly failed: ReadonlyMap<string, readonly string[]>;
}

/** What people see; of a turn that was stopped they see what it had written, which is no answer. */
export function standing({ posts }: Evidence): Post[] {
  return posts.filter((post) => !post.deleted);
}

export function isStopped({ content }: Post): boolean {
  return content.includes("(stopped)");
}

/**
 * Texts that did not reach anybody, or of which nobody knows, and may have not: those a platform has refused, and the
 * doubtful ones of the platform that gives no way to find out. They are shown to the operator.
 */
export function shown({ outbox }: Evidence): string[] {
  return outbox.filter(({ state }) => state === "uncertain" || state === "dead").map(textOf);
}

export function textOf({ texts }: Evidence["outbox"][number]): string {
  return texts.map((text) => text ?? "").join("\n\n");
}
