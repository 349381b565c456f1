import { Badge } from "@mantine/core";
import { Link, useLocation } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { GROUPS, isAt, PAGES, type PageEntry } from "../pages.ts";
import { useWords } from "../words/words.tsx";
import { useWaiting } from "./area-links.tsx";
import classes from "./sidebar.module.css";

/** Links to the pages for owners, by group. */
export function PageLinks({ onFollow }: { onFollow: () => void }): ReactNode {
  const words = useWords();
  return (
    <nav className={classes["pages"]} aria-label={words.sidebar.pages}>
      {GROUPS.map((group) => {
        const pages = PAGES.filter((page) => page.group === group);
        return (
          pages.length > 0 && (
            <div key={group}>
              <p className={classes["group"]}>{words.groups[group]}</p>
              <ul>
                {pages.map((page) => (
                  <li key={page.id}>
                    <PageLink page={page} onFollow={onFollow} />
                  </li>
                ))}
              </ul>
            </div>
          )
        );
      })}
    </nav>
  );
}

function PageLink({ page, onFollow }: { page: PageEntry; onFollow: () => void }): ReactNode {
  const words = useWords();
  const { pathname } = useLocation();
  const { id, to, icon: Picture } = page;
  const waiting: Readonly<Record<string, number>> = { ...useWaiting() };
  const count = waiting[id] ?? 0;
  return (
    <Link to={to} onClick={onFollow} aria-current={isAt(page, pathname) ? "page" : undefined}>
      <Picture size={17} stroke={1.7} aria-hidden />
      {words.pages[id]}
      {count > 0 && (
        <Badge size="sm" circle variant="filled" aria-label={words.sidebar.waiting(count)}>
          {count}
        </Badge>
      )}
    </Link>
  );
}
