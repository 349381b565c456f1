import type { ActivityCommand } from "@signalbox/client";
import type { ReactNode } from "react";
import classes from "./activity.module.css";
import { Ongoing } from "./ongoing.tsx";
import { useNow } from "./use-now.ts";

/** Background commands. */
export function Commands({ commands }: { commands: readonly ActivityCommand[] }): ReactNode {
  const now = useNow();
  return (
    <ul className={classes["rows"]}>
      {commands.map(({ id, command, sessionKey, startedAt }) => (
        <Ongoing
          key={`${sessionKey} ${id}`}
          name={<code>{command}</code>}
          startedAt={startedAt}
          now={now}
          sessionKey={sessionKey}
        />
      ))}
    </ul>
  );
}
