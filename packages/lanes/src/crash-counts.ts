/** Storage for crash counts. A write must be durable once it resolves. */
export interface CrashCountStore {
  /** Returns 0 for an unknown id. */
  read(id: string): Promise<number>;
  write(id: string, count: number): Promise<void>;
  remove(id: string): Promise<void>;
}

/** Counts the processes that crashed during a task, so that a task that crashes every process can be dropped. */
export interface CrashCounts {
  /** Returns the number of earlier processes that crashed during this task. */
  get(id: string): Promise<number>;
  /** Counts this process once, even if it calls this repeatedly. Call it before the task that may crash. */
  begin(id: string): Promise<void>;
  /** Deletes the count. Call it when the task is over, successful or not. */
  end(id: string): Promise<void>;
  /** Removes this process from all counts. Call it when the process stops in an orderly way. */
  stopCleanly(): Promise<void>;
}

export function createCrashCounts(store: CrashCountStore): CrashCounts {
  /** Counts, without this process, of the tasks that it has begun. */
  const begun = new Map<string, number>();
  const get = async (id: string): Promise<number> => begun.get(id) ?? store.read(id);
  return {
    get,
    async begin(id) {
      if (begun.has(id)) return;
      const count = await get(id);
      await store.write(id, count + 1);
      begun.set(id, count);
    },
    async end(id) {
      await store.remove(id);
      begun.delete(id);
    },
    async stopCleanly() {
      for (const [id, count] of begun) {
        if (count === 0) await store.remove(id);
        else await store.write(id, count);
      }
      begun.clear();
    },
  };
}
