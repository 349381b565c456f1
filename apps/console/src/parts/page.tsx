import type { UseQueryResult } from "@tanstack/react-query";
import type { ErrorComponentProps } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef } from "react";
import { useWords } from "../words/words.tsx";
import { ProblemNote, toProblem } from "./problem.tsx";

/** A page with its heading. Moves the focus to the heading, so that screen readers announce it. */
export function Page({ title, children }: { title: string; children: ReactNode }): ReactNode {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Signalbox`;
    heading.current?.focus();
  }, [title]);
  return (
    <div className="sheet">
      <h2 ref={heading} tabIndex={-1}>
        {title}
      </h2>
      {children}
    </div>
  );
}

interface LoadedProps<Data> {
  query: UseQueryResult<Data>;
  children: (data: Data) => ReactNode;
}

/** Shows the result of a query. If a refresh fails, shows the error next to the old data. */
export function Loaded<Data>({ query, children }: LoadedProps<Data>): ReactNode {
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
      {query.isPending && (
        <p className="help" role="status">
          {words.loading}
        </p>
      )}
    </>
  );
}

export interface Fact {
  name: string;
  value: ReactNode;
}

/** A list of names and values. */
export function Facts({ facts }: { facts: readonly Fact[] }): ReactNode {
  return (
    <dl className="facts">
      {facts.map(({ name, value }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Shown while a page is loading. */
export function LoadingPage(): ReactNode {
  const words = useWords();
  return <p className="sheet help">{words.loading}</p>;
}

/** Shown if a page fails to render. */
export function BrokenPage({ error, reset }: ErrorComponentProps): ReactNode {
  const words = useWords();
  return (
    <div className="sheet">
      <ProblemNote problem={toProblem(error)} action={{ label: words.tryAgain, run: reset }} />
    </div>
  );
}
