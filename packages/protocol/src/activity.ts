import * as z from "zod/mini";
import { MessageInfo } from "./bodies.ts";
import { ScheduleInfo } from "./owner-bodies.ts";

/** A tool call of a current run. */
export const ActivityCall = z.object({
  id: z.string(),
  name: z.string(),
  state: z.enum(["running", "done", "failed"]),
  /** Arguments as JSON, truncated for display. */
  args: z.string(),
  /** Absent while the call is running. */
  durationMs: z.optional(z.number()),
});
export type ActivityCall = z.infer<typeof ActivityCall>;

/** A current run. */
export const ActivityRun = z.object({
  runId: z.string(),
  sessionKey: z.string(),
  agent: z.string(),
  startedAt: z.number(),
  /** In the order in which the model made them. Empty if the run is executed by another process. */
  calls: z.array(ActivityCall),
});
export type ActivityRun = z.infer<typeof ActivityRun>;

/** A background command. */
export const ActivityCommand = z.object({
  /** Unique within the session. */
  id: z.string(),
  sessionKey: z.string(),
  command: z.string(),
  startedAt: z.number(),
});
export type ActivityCommand = z.infer<typeof ActivityCommand>;

/** The current activity of the whole gateway. */
export const Activity = z.object({
  /** Oldest first. */
  runs: z.array(ActivityRun),
  /** Messages that are waiting for a run, oldest first. */
  waiting: z.array(MessageInfo),
  commands: z.array(ActivityCommand),
  /** Schedules and heartbeats, soonest first. */
  schedules: z.array(ScheduleInfo),
});
export type Activity = z.infer<typeof Activity>;
