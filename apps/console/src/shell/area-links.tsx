import { Badge } from "@mantine/core";
import { IconLayoutDashboard, IconMessageCircle } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { approvalsQuery } from "../approvals/queries.ts";
import { useClient } from "../gateway.tsx";
import { pairingsQuery } from "../pages/people/queries.ts";
import { useWords } from "../words/words.tsx";
import classes from "./sidebar.module.css";

/** Switches between the chat and the pages for owners. Shows how much is waiting for the user on these pages. */
export function AreaLinks({ isChat, onFollow }: { isChat: boolean; onFollow: () => void }): ReactNode {
  const { sidebar: words } = useWords();
  const waiting = useWaiting();
  const count = waiting.approvals + waiting.people;
  return (
    <nav className={classes["areas"]} aria-label={words.areas}>
      <Link to="/" aria-current={isChat ? "true" : undefined} onClick={onFollow}>
        <IconMessageCircle size={16} aria-hidden />
        {words.chat}
      </Link>
      <Link to="/activity" aria-current={isChat ? undefined : "true"}>
        <IconLayoutDashboard size={16} aria-hidden />
        {words.manage}
        {isChat && count > 0 && (
          <Badge size="sm" circle variant="filled" aria-label={words.waiting(count)}>
            {count}
          </Badge>
        )}
      </Link>
    </nav>
  );
}

/** Returns the number of pending approvals and of people who wait for pairing. */
export function useWaiting(): { approvals: number; people: number } {
  const client = useClient();
  const { data: approvals = [] } = useQuery(approvalsQuery(client));
  const { data: pairings } = useQuery(pairingsQuery(client));
  return { approvals: approvals.length, people: pairings?.pending.length ?? 0 };
}
