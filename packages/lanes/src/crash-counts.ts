/** Storage for crash counts. A write must be durable when it resolves. */
export interface CrashCountStore {
  /** Returns 0 for an unknown id. */
  read(id: string): Promise<number>;
  write(id: string, count: number): Promise<void>;
  remove(id: string): Promise<void>;
}

/** Counts the processes that crashed during a piece of work, so that work which crashes each process can be dropped. */
export interface CrashCounts {
  /** Returns how many earlier processes crashed during this work. */
  get(id: string): Promise<number>;
  /** Counts this process, once, however often it tries. Call it before the work that may crash. */
  begin(id: string): Promise<void>;
  /** Forgets the count. Call it when the work is over, successful or not. */
  end(id: string): Promise<void>;
  /** Takes this process out of every count. Call it when the process stops in an orderly way. */
  stopCleanly(): Promise<void>;
}

export function createCrashCounts(store: CrashCountStore): CrashCounts {
  /** Counts without this process, of the work that it has begun. */
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
