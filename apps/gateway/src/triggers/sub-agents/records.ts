import { z } from "zod";
import type { SubAgent, SubAgentStore } from "./types.ts";

/** Stores the records of sub-agents. */
export interface Records<Origin> {
  all(): Promise<readonly SubAgent<Origin>[]>;
  put(record: SubAgent<Origin>): Promise<void>;
  remove(id: string): Promise<void>;
}

/** Creates access to the records. An unreadable record is reported, left in the store, and otherwise ignored. */
export function createRecords<Origin>(
  store: SubAgentStore,
  origin: z.ZodType<Origin>,
  onUnreadable: (id: string) => void,
): Records<Origin> {
  const task = z.object({
    key: z.string(),
    text: z.string(),
    origin,
    chain: z.string(),
    givenAt: z.number(),
    messageId: z.string().optional(),
    ended: z.enum(["done", "cut", "failed", "stopped"]).optional(),
  });
  const record = z.object({
    agentId: z.string(),
    parentKey: z.string(),
    sessionKey: z.string(),
    label: z.string(),
    depth: z.int(),
    tools: z.array(z.string()),
    tasks: z.array(task),
  });
  return {
    async all() {
      const rows = await store.list();
      return rows.flatMap(({ id, value }) => {
        const read = record.safeParse(value);
        if (read.success) return [{ id, ...read.data }];
        onUnreadable(id);
        return [];
      });
    },
    put: ({ id, ...rest }) => store.put(id, rest),
    remove: (id) => store.remove(id),
  };
}

/** Creates an in-memory store for records. */
export function createMemorySubAgentStore(): SubAgentStore {
  const records = new Map<string, object>();
  return {
    list: async () => [...records].map(([id, value]) => ({ id, value })),
    async put(id, value) {
      records.set(id, value);
    },
    async remove(id) {
      records.delete(id);
    },
  };
}
