import * as z from "zod/mini";
import { MessageInfo } from "./bodies.ts";
import { ScheduleInfo } from "./owner-bodies.ts";

/** A tool call of a current run. */
export const ActivityCall = z.object({
  id: z.string(),
  name: z.string(),
  state: z.enum(["running", "done", "failed"]),
  /** Its arguments as JSON, cut to a length fit for display. */
  args: z.string(),
  /** Once it is over. */
  durationMs: z.exactOptional(z.number()),
});
export type ActivityCall = z.infer<typeof ActivityCall>;

/** A current run. */
export const ActivityRun = z.object({
  runId: z.string(),
  sessionKey: z.string(),
  agent: z.string(),
  startedAt: z.number(),
  /** In the order of the model; empty where another process has the run. */
  calls: z.array(ActivityCall),
});
export type ActivityRun = z.infer<typeof ActivityRun>;

/** A background command. */
export const ActivityCommand = z.object({
  /** Within its session. */
  id: z.string(),
  sessionKey: z.string(),
  command: z.string(),
  startedAt: z.number(),
});
export type ActivityCommand = z.infer<typeof ActivityCommand>;

/** The activity of the gateway, and what waits. */
export const Activity = z.object({
  /** The oldest first. */
  runs: z.array(ActivityRun),
  /** Messages that no run has taken yet, the oldest first. */
  waiting: z.array(MessageInfo),
  commands: z.array(ActivityCommand),
  /** What agents are to do by themselves, the soonest first. */
  schedules: z.array(ScheduleInfo),
});
export type Activity = z.infer<typeof Activity>;
