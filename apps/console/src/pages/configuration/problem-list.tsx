import { Alert, List } from "@mantine/core";
import type { ReactNode } from "react";

interface ShownProblem {
  readonly path: string;
  readonly line?: number | undefined;
  readonly message: string;
  readonly remedy: string;
}

interface Props {
  title: string;
  problems: readonly ShownProblem[];
  color?: string;
}

/** Problems of the configuration with their places and remedies. */
export function ProblemList({ title, problems, color = "red" }: Props): ReactNode {
  if (problems.length === 0) return null;
  return (
    <Alert color={color} title={title}>
      <List size="sm">
        {problems.map(({ path, line, message, remedy }) => (
          <List.Item key={`${path} ${message}`}>
            <bdi>
              {[path, line].filter((part) => part !== undefined && part !== "").join(":")} {message}. {remedy}
            </bdi>
          </List.Item>
        ))}
      </List>
    </Alert>
  );
}
