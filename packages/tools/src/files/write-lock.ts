import { createSemaphore, type Semaphore } from "../semaphore.ts";
import type { Workspace } from "../workspace/workspace.ts";

const locks = new WeakMap<Workspace, Semaphore>();

/**
 * Waits for the exclusive right to change files of a workspace and resolves with the function that releases it. Without
 * the lock, two concurrent calls (of a run and its sub-agent, for example) could both read a file and then replace it.
 *
 * @throws the signal's reason if it is aborted
 */
export function acquireWriteLock(workspace: Workspace, signal: AbortSignal): Promise<() => void> {
  const lock = locks.get(workspace) ?? createSemaphore(1);
  locks.set(workspace, lock);
  return lock.acquire(signal);
}
