import type { ReactNode } from "react";
import { StateBadge } from "../../parts/state-badge.tsx";
import { useFormat } from "../../words/use-format.ts";
import classes from "./activity.module.css";
import { SessionLink } from "./session-link.tsx";
import { useActivityWords } from "./words.ts";

interface OngoingProps {
  /** Name of the activity. */
  name: ReactNode;
  startedAt: number;
  now: number;
  sessionKey: string;
  /** Details. */
  children?: ReactNode;
}

/** One activity of a session with its duration. */
export function Ongoing({ name, startedAt, now, sessionKey, children }: OngoingProps): ReactNode {
  const words = useActivityWords();
  const format = useFormat();
  return (
    <li className={classes["row"]}>
      <div className={classes["head"]}>
        <strong>
          <bdi>{name}</bdi>
        </strong>
        <StateBadge tone="busy">{words.since(format.duration(Math.max(0, now - startedAt)))}</StateBadge>
      </div>
      <SessionLink sessionKey={sessionKey} />
      {children}
    </li>
  );
}
