import type { ScheduleInfo } from "@signalbox/client";
import type { ReactNode } from "react";
import { useFormat } from "../../words/use-format.ts";

/** Schedules and heartbeats, soonest first. */
export function Schedules({ schedules }: { schedules: readonly ScheduleInfo[] }): ReactNode {
  const format = useFormat();
  return (
    <ul className="rows">
      {schedules.map(({ id, agent, when, nextAt, text }) => (
        <li key={`${agent} ${id}`}>
          <span className="row-head">
            <strong>
              <bdi>{text}</bdi>
            </strong>
            <time dateTime={new Date(nextAt).toISOString()}>{format.time(nextAt)}</time>
          </span>
          <span className="about">
            {agent} · {when}
          </span>
        </li>
      ))}
    </ul>
  );
}
