import { Skeleton, Stack, VisuallyHidden } from "@mantine/core";
import type { UseQueryResult } from "@tanstack/react-query";
import type { ErrorComponentProps } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef } from "react";
import { useWords } from "../words/words.tsx";
import classes from "./page.module.css";
import { ProblemNote, toProblem } from "./problem.tsx";

interface PageProps {
  title: string;
  /** One sentence about the page. */
  description?: ReactNode;
  /** Buttons and controls that concern the whole page. */
  actions?: ReactNode;
  children: ReactNode;
}

/** A page with its heading. Moves the focus to the heading, so that screen readers announce it. */
export function Page({ title, description, actions, children }: PageProps): ReactNode {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Signalbox`;
    heading.current?.focus();
  }, [title]);
  return (
    <div className={classes["sheet"]} data-page>
      <div className={classes["content"]}>
        <header className={classes["header"]}>
          <div className={classes["titles"]}>
            <h2 ref={heading} tabIndex={-1}>
              <bdi>{title}</bdi>
            </h2>
            {description !== undefined && <div className={classes["description"]}>{description}</div>}
          </div>
          {actions !== undefined && <div className={classes["actions"]}>{actions}</div>}
        </header>
        {children}
      </div>
    </div>
  );
}

interface SectionProps {
  title: string;
  /** Controls next to the title. */
  actions?: ReactNode;
  children: ReactNode;
}

/** A part of a page with its own heading. */
export function Section({ title, actions, children }: SectionProps): ReactNode {
  return (
    <section className={classes["section"]} aria-label={title}>
      <header>
        <h3>{title}</h3>
        {actions}
      </header>
      {children}
    </section>
  );
}

interface LoadedProps<Data> {
  query: UseQueryResult<Data>;
  /** Number of placeholder rows while the data is loading. Default 5. */
  rows?: number;
  children: (data: Data) => ReactNode;
}

/** Shows the result of a query. If a refresh fails, shows the error next to the old data. */
export function Loaded<Data>({ query, rows, children }: LoadedProps<Data>): ReactNode {
  const words = useWords();
  return (
    <>
      {query.error !== null && (
        <ProblemNote
          problem={toProblem(query.error)}
          action={{ label: words.tryAgain, run: () => void query.refetch() }}
        />
      )}
      {query.data !== undefined && children(query.data)}
      {query.isPending && <LoadingRows {...(rows !== undefined && { rows })} />}
    </>
  );
}

/** Placeholder for rows that are loading. */
export function LoadingRows({ rows = 5 }: { rows?: number }): ReactNode {
  const words = useWords();
  return (
    <Stack gap="sm" role="status">
      <VisuallyHidden>{words.loading}</VisuallyHidden>
      {Array.from({ length: rows }, (_, row) => (
        <Skeleton key={String(row)} height={44} />
      ))}
    </Stack>
  );
}

/** Shown while the scripts of a page are loading. */
export function LoadingPage(): ReactNode {
  return (
    <div className={classes["sheet"]}>
      <div className={classes["content"]}>
        <Skeleton height={32} width={220} />
        <LoadingRows />
      </div>
    </div>
  );
}

/** Shown if a page fails to render. */
export function BrokenPage({ error, reset }: ErrorComponentProps): ReactNode {
  const words = useWords();
  return (
    <div className={classes["sheet"]}>
      <div className={classes["content"]}>
        <ProblemNote problem={toProblem(error)} action={{ label: words.tryAgain, run: reset }} />
      </div>
    </div>
  );
}
