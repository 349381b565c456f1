import { createSemaphore, type Semaphore } from "../semaphore.ts";
import type { Workspace } from "../workspace/workspace.ts";

const turns = new WeakMap<Workspace, Semaphore>();

/**
 * Waits until no one else changes files of a workspace, and resolves to a function that lets the next one. Otherwise,
 * if two calls read a file and then replace it, for instance of a run and its sub-agent, the second would undo the
 * first.
 * @throws what the signal was aborted with
 */
export function turnIn(workspace: Workspace, signal: AbortSignal): Promise<() => void> {
  const turn = turns.get(workspace) ?? createSemaphore(1);
  turns.set(workspace, turn);
  return turn.acquire(signal);
}
