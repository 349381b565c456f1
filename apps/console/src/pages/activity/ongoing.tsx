import type { ReactNode } from "react";
import { useFormat } from "../../words/use-format.ts";
import { useWords } from "../../words/words.tsx";
import { SessionLink } from "./session-link.tsx";

interface OngoingProps {
  /** What it is called. */
  name: ReactNode;
  startedAt: number;
  now: number;
  sessionKey: string;
  /** What else there is to say of it. */
  children?: ReactNode;
}

/** Something that goes on for a session: what it is, and since when. */
export function Ongoing({ name, startedAt, now, sessionKey, children }: OngoingProps): ReactNode {
  const { activity: words } = useWords();
  const format = useFormat();
  return (
    <li>
      <span className="row-head">
        <strong>{name}</strong>
        <span className="badge running">{words.since(format.duration(Math.max(0, now - startedAt)))}</span>
      </span>
      <span className="about">
        <SessionLink sessionKey={sessionKey} />
      </span>
      {children}
    </li>
  );
}
