import { z } from "zod";
import type { ScheduleStore } from "./schedules/schedule.ts";
import type { TriggerStore } from "./types.ts";

const timing = z.object({
  when: z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("at"), at: z.number() }),
    z.object({ kind: z.literal("every"), everyMs: z.number().positive(), from: z.number() }),
    z.object({ kind: z.literal("cron"), expression: z.string(), zone: z.string().optional() }),
  ]),
  missed: z.enum(["once", "skip"]),
  nextAt: z.number(),
  lastAt: z.number().optional(),
  paused: z.literal(true).optional(),
});
const kept = timing.extend({ task: z.unknown() });

export type KeyValues = Pick<TriggerStore["kv"], "list" | "set" | "delete">;

/** Stores schedules of one type. An unreadable schedule stays in the store and never becomes due. */
export function createScheduleStore<Task>(
  kv: KeyValues,
  kind: string,
  taskSchema: z.ZodType<Task>,
  onUnreadable: (id: string) => void,
): ScheduleStore<Task> {
  return {
    async list() {
      const entries = await kv.list(kind);
      return entries.flatMap(({ key: id, value }) => {
        const read = kept.safeParse(value);
        const task = taskSchema.safeParse(read.data?.task);
        if (read.success && task.success) return [{ id, ...read.data, task: task.data }];
        onUnreadable(id);
        return [];
      });
    },
    put: ({ id, ...rest }) => kv.set(kind, id, rest),
    async remove(id) {
      await kv.delete(kind, id);
    },
  };
}
