import type { ReactNode } from "react";
import { useFormat } from "../../words/use-format.ts";
import { useWords } from "../../words/words.tsx";
import { SessionLink } from "./session-link.tsx";

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
  const { activity: words } = useWords();
  const format = useFormat();
  return (
    <li>
      <span className="row-head">
        <strong>
          <bdi>{name}</bdi>
        </strong>
        <span className="badge running">{words.since(format.duration(Math.max(0, now - startedAt)))}</span>
      </span>
      <span className="about">
        <SessionLink sessionKey={sessionKey} />
      </span>
      {children}
    </li>
  );
}
