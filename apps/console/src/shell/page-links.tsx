import { useQuery } from "@tanstack/react-query";
import { Link, useMatchRoute } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useClient } from "../gateway.tsx";
import { approvalsQuery } from "../queries.ts";
import { useWords } from "../words/words.tsx";

/** Where owners see what else goes on in the gateway. */
export function PageLinks({ onFollow }: { onFollow: () => void }): ReactNode {
  const words = useWords();
  const { data: waiting = [] } = useQuery(approvalsQuery(useClient()));
  const isOneMessage = useMatchRoute()({ to: "/message/$id" }) !== false;
  return (
    <nav className="pages" aria-label={words.sidebar.pages}>
      <ul>
        <li>
          <Link to="/activity" onClick={onFollow}>
            {words.pages.activity}
          </Link>
        </li>
        <li>
          <Link to="/sessions" onClick={onFollow}>
            {words.pages.sessions}
          </Link>
        </li>
        <li>
          <Link
            to="/messages/{-$session}"
            onClick={onFollow}
            {...(isOneMessage && { "aria-current": "page" as const })}
          >
            {words.pages.messages}
          </Link>
        </li>
        <li>
          <Link to="/approvals" onClick={onFollow}>
            {words.pages.approvals}
            {waiting.length > 0 && <span className="count">{waiting.length}</span>}
          </Link>
        </li>
        <li>
          <Link to="/people" onClick={onFollow}>
            {words.pages.people}
          </Link>
        </li>
        <li>
          <Link to="/channels" onClick={onFollow}>
            {words.pages.channels}
          </Link>
        </li>
        <li>
          <Link
            to="/usage"
            search={{ by: "day", days: 30 }}
            activeOptions={{ includeSearch: false }}
            onClick={onFollow}
          >
            {words.pages.usage}
          </Link>
        </li>
      </ul>
    </nav>
  );
}
