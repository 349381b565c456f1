import type { UseQueryResult } from "@tanstack/react-query";
import type { ErrorComponentProps } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef } from "react";
import { useWords } from "../words/words.tsx";
import { ProblemNote, toProblem } from "./problem.tsx";

/** A page with its heading, which those who listen are told first. */
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

/** What was read from the gateway. Where it cannot be read again, what is there stays, and that is said. */
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

/** Names with what they stand for. */
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

/** Until what shows a page is loaded. */
export function LoadingPage(): ReactNode {
  const words = useWords();
  return <p className="sheet help">{words.loading}</p>;
}

/** Where a page cannot be shown. */
export function BrokenPage({ error, reset }: ErrorComponentProps): ReactNode {
  const words = useWords();
  return (
    <div className="sheet">
      <ProblemNote problem={toProblem(error)} action={{ label: words.tryAgain, run: reset }} />
    </div>
  );
}
