import { Alert, Button } from "@mantine/core";
import { isClientError, type Problem } from "@signalbox/client";
import { IconAlertCircle } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { useWords } from "../words/words.tsx";
import classes from "./problem.module.css";

interface Action {
  label: string;
  run: () => void;
}

/** An error with its remedy, and a button that retries or fixes it, if any. */
export function ProblemNote({ problem, action }: { problem: Problem; action?: Action }): ReactNode {
  const words = useWords();
  const { message, remedy } = problem.code === "disk_full" ? words.diskFull : problem;
  return (
    <Alert
      color="red"
      variant="light"
      icon={<IconAlertCircle size={18} aria-hidden />}
      classNames={{ message: classes["message"] ?? "" }}
    >
      <p>
        <strong>{message}</strong>
        {remedy && <span> {remedy}</span>}
      </p>
      {action && (
        <Button variant="default" size="xs" onClick={action.run}>
          {action.label}
        </Button>
      )}
    </Alert>
  );
}

export function toProblem(error: unknown): Problem {
  if (!isClientError(error)) return { code: "internal", message: String(error) };
  const { code, message, remedy } = error;
  return remedy === undefined ? { code, message } : { code, message, remedy };
}
