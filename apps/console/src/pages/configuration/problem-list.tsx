import { Alert, Anchor, List } from "@mantine/core";
import type { ReactNode } from "react";
import { useConfigurationWords } from "./words.ts";

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
  /** Moves to a line of the text, if the page shows the text. */
  onLine?: ((line: number) => void) | undefined;
}

/** Problems of the configuration with their places and remedies. */
export function ProblemList({ title, problems, color = "red", onLine }: Props): ReactNode {
  if (problems.length === 0) return null;
  return (
    <Alert color={color} title={title}>
      <List size="sm">
        {problems.map(({ path, line, message, remedy }) => (
          <List.Item key={`${path} ${message}`}>
            {line !== undefined && (
              <>
                <Line line={line} onLine={onLine} />{" "}
              </>
            )}
            <bdi>
              {path} {message}. {remedy}
            </bdi>
          </List.Item>
        ))}
      </List>
    </Alert>
  );
}

function Line({ line, onLine }: { line: number; onLine: Props["onLine"] }): ReactNode {
  const words = useConfigurationWords();
  if (onLine === undefined) return words.line(line);
  return (
    <Anchor
      component="button"
      type="button"
      size="sm"
      c="inherit"
      td="underline"
      onClick={() => onLine(line)}
    >
      {words.line(line)}
    </Anchor>
  );
}
