import { createSemaphore, type Semaphore } from "../semaphore.ts";
import type { Workspace } from "../workspace/workspace.ts";

const turns = new WeakMap<Workspace, Semaphore>();

/**
 * Waits until nobody else changes files of a workspace, and resolves to what lets the next one: of two who replace a
 * file by what they have read of it, a run and its sub-agent say, the second would undo what the first has done.
 *
 * @throws what the signal was aborted with
 */
export function turnIn(workspace: Workspace, signal: AbortSignal): Promise<() => void> {
  const turn = turns.get(workspace) ?? createSemaphore(1);
  turns.set(workspace, turn);
  return turn.acquire(signal);
}
