/** Runs calls with the same key one after the other, in the order in which they were made. */
export type Order = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/**
 * Creates an {@link Order}. Two transactions of one process may use two connections, so PostgreSQL alone does not keep
 * the order of calls, such as that of two messages of a conversation.
 */
export function createOrder(): Order {
  const last = new Map<string, Promise<unknown>>();

  return async (key, work) => {
    const run = (last.get(key) ?? Promise.resolve()).then(work, work);
    last.set(key, run);
    try {
      return await run;
    } finally {
      if (last.get(key) === run) last.delete(key);
    }
  };
}
