import type { ActivityCommand } from "@signalbox/client";
import type { ReactNode } from "react";
import { useFormat } from "../../words/use-format.ts";
import { useWords } from "../../words/words.tsx";
import { SessionLink } from "./session-link.tsx";
import { useNow } from "./use-now.ts";

/** Commands that go on beside the runs that started them. */
export function Commands({ commands }: { commands: readonly ActivityCommand[] }): ReactNode {
  const { activity: words } = useWords();
  const format = useFormat();
  const now = useNow();
  return (
    <ul className="rows">
      {commands.map(({ id, sessionKey, command, startedAt }) => (
        <li key={`${sessionKey} ${id}`}>
          <span className="row-head">
            <strong>
              <code>{command}</code>
            </strong>
            <span className="badge running">
              {words.since(format.duration(Math.max(0, now - startedAt)))}
            </span>
          </span>
          <span className="about">
            <SessionLink sessionKey={sessionKey} />
          </span>
        </li>
      ))}
    </ul>
  );
}
