/** Where the counts are kept. A write is on the disk when it resolves. */
export interface CrashCountStore {
  read(id: string): Promise<number>;
  write(id: string, count: number): Promise<void>;
  remove(id: string): Promise<void>;
}

/**
 * Counts the processes that died during each piece of work, so that work which ends one process after another is
 * recognised and can be set aside.
 */
export interface CrashCounts {
  /** Processes before this one that died under it. */
  before(id: string): Promise<number>;
  /** Counts this process, once, however often the work is tried here. */
  begin(id: string): Promise<void>;
  /** The dangerous part is over, well or badly. */
  end(id: string): Promise<void>;
  /** Takes this process out of every count again: it ends as it was told to, which is no crash. */
  rest(): Promise<void>;
}

export function createCrashCounts(store: CrashCountStore): CrashCounts {
  /** What was counted before this process was. */
  const begun = new Map<string, number>();
  const before = async (id: string): Promise<number> => begun.get(id) ?? store.read(id);
  return {
    before,
    async begin(id) {
      if (begun.has(id)) return;
      const count = await before(id);
      await store.write(id, count + 1);
      begun.set(id, count);
    },
    async end(id) {
      await store.remove(id);
      begun.delete(id);
    },
    async rest() {
      for (const [id, count] of begun) {
        if (count === 0) await store.remove(id);
        else await store.write(id, count);
      }
      begun.clear();
    },
  };
}
