import { randomUUID } from "node:crypto";
import { GatewayError } from "@signalbox/home";
import type { JsonValue } from "@signalbox/store";
import type { GatewayContext } from "../context.ts";
import { findScheduled, requestAtSeat } from "../pipeline/control.ts";
import type { SchedulesOfAgents } from "../triggers/schedule-handler.ts";

/** Changes schedules on the node that runs their agent. */
export function createSeatedSchedules(ctx: GatewayContext): SchedulesOfAgents {
  return {
    async add(schedule) {
      const added = await requestAtSeat(ctx, schedule.task, { kind: "schedule_add", schedule });
      return inTime(added) === true;
    },
    async remove(id) {
      const session = await findScheduled(ctx, id);
      if (session === undefined) return false;
      return inTime(await requestAtSeat(ctx, session, { kind: "schedule_remove", id })) === true;
    },
    async pause(id, isPaused) {
      const session = await findScheduled(ctx, id);
      if (session === undefined) return false;
      return inTime(await requestAtSeat(ctx, session, { kind: "schedule_pause", id, isPaused })) === true;
    },
    async run(id) {
      const session = await findScheduled(ctx, id);
      if (session === undefined) return "unknown";
      // The name is the same if the request is repeated.
      const name = randomUUID();
      const outcome = inTime(await requestAtSeat(ctx, session, { kind: "schedule_run", id, name }));
      return outcome === "taken" || outcome === "unknown" ? outcome : "later";
    },
  };
}

/** @throws GatewayError if there is no result */
function inTime(result: JsonValue | undefined): JsonValue {
  if (result !== undefined && result !== null) return result;
  throw new GatewayError(
    "failure",
    "The gateway that runs the agent did not do this in time. Check that it is running, and list the schedules.",
  );
}
