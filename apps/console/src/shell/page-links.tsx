import { useQuery } from "@tanstack/react-query";
import { Link, type LinkProps, useMatchRoute } from "@tanstack/react-router";
import type { ComponentProps, ReactNode } from "react";
import { useClient } from "../gateway.tsx";
import { approvalsQuery } from "../queries.ts";
import { useWords } from "../words/words.tsx";

/** Links to the pages for owners. */
export function PageLinks({ onFollow }: { onFollow: () => void }): ReactNode {
  const words = useWords();
  const { data: waiting = [] } = useQuery(approvalsQuery(useClient()));
  const isOneMessage = useMatchRoute()({ to: "/message/$id" }) !== false;
  return (
    <nav className="pages" aria-label={words.sidebar.pages}>
      <ul>
        <Entry to="/activity" onClick={onFollow}>
          {words.pages.activity}
        </Entry>
        <Entry to="/sessions" onClick={onFollow}>
          {words.pages.sessions}
        </Entry>
        <Entry
          to="/messages/{-$session}"
          onClick={onFollow}
          {...(isOneMessage && { "aria-current": "page" as const })}
        >
          {words.pages.messages}
        </Entry>
        <Entry to="/approvals" onClick={onFollow}>
          {words.pages.approvals}
          {waiting.length > 0 && <span className="count">{waiting.length}</span>}
        </Entry>
        <Entry to="/people" onClick={onFollow}>
          {words.pages.people}
        </Entry>
        <Entry to="/channels" onClick={onFollow}>
          {words.pages.channels}
        </Entry>
        <Entry
          to="/usage"
          search={{ by: "day", days: 30 }}
          activeOptions={{ includeSearch: false }}
          onClick={onFollow}
        >
          {words.pages.usage}
        </Entry>
      </ul>
    </nav>
  );
}

function Entry(link: LinkProps & Pick<ComponentProps<"a">, "aria-current" | "onClick">): ReactNode {
  return (
    <li>
      <Link {...link} />
    </li>
  );
}
