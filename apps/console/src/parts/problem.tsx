import { isClientError, type Problem } from "@signalbox/client";
import type { ReactNode } from "react";

interface Action {
  label: string;
  run: () => void;
}

/** An error with its remedy, and a button that retries or fixes it, if any. */
export function ProblemNote({ problem, action }: { problem: Problem; action?: Action }): ReactNode {
  return (
    <div className="problem" role="alert">
      <p>
        <strong>{problem.message}</strong>
        {problem.remedy && <span> {problem.remedy}</span>}
      </p>
      {action && (
        <button type="button" className="quiet" onClick={action.run}>
          {action.label}
        </button>
      )}
    </div>
  );
}

export function toProblem(error: unknown): Problem {
  if (!isClientError(error)) return { code: "internal", message: String(error) };
  const { code, message, remedy } = error;
  return remedy === undefined ? { code, message } : { code, message, remedy };
}
