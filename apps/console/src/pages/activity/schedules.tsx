import type { ScheduleInfo } from "@signalbox/client";
import type { ReactNode } from "react";
import { Time } from "../../parts/time.tsx";
import classes from "./activity.module.css";

/** Schedules and heartbeats, soonest first. */
export function Schedules({ schedules }: { schedules: readonly ScheduleInfo[] }): ReactNode {
  return (
    <ul className={classes["rows"]}>
      {schedules.map(({ id, agent, when, nextAt, text }) => (
        <li key={`${agent} ${id}`} className={classes["row"]}>
          <div className={classes["head"]}>
            <strong>
              <bdi>{text}</bdi>
            </strong>
            <Time at={nextAt} />
          </div>
          <span className={classes["about"]}>
            {agent} · {when}
          </span>
        </li>
      ))}
    </ul>
  );
}
