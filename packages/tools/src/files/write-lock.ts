import { createSemaphore, type Semaphore } from "../semaphore.ts";
import type { Role } from "../types.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** Maximum time in milliseconds in which a change is computed under the lock, since others wait for it. */
export const MAX_LOCKED_MS = 15_000;

/** Locks by folder, because several `Workspace` objects may share a folder. */
const locks = new Map<string, Semaphore>();

/**
 * Waits for the exclusive right to change files in a workspace and resolves with the function that releases it. Without
 * the lock, two concurrent calls (for example by a run and its sub-agent) could both read a file and then replace it.
 *
 * @throws the signal's reason if it is aborted
 */
export function acquireWriteLock({ dir }: Workspace, signal: AbortSignal, role: Role): Promise<() => void> {
  const lock = locks.get(dir) ?? createSemaphore(1);
  locks.set(dir, lock);
  return lock.acquire(signal, role);
}
