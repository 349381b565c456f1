import { Button, Group, Text } from "@mantine/core";
import { type ConfigurationChange, type ConfigurationCheck, isClientError } from "@signalbox/client";
import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useId, useState } from "react";
import { useClient } from "../../gateway.tsx";
import { CodeBlock } from "../../parts/code-block.tsx";
import { Section } from "../../parts/page.tsx";
import { ProblemNote, toProblem } from "../../parts/problem.tsx";
import { useChange } from "../../parts/use-change.ts";
import { Effects } from "./effects.tsx";
import { ProblemList } from "./problem-list.tsx";
import { useConfigurationWords } from "./words.ts";

interface Props {
  change: ConfigurationChange;
  isChanged: boolean;
  onDiscard: () => void;
  /** Marks the lines of errors in the text, if the page shows the text. */
  onErrors?: ((lines: readonly number[]) => void) | undefined;
  onLine?: ((line: number) => void) | undefined;
}

/** Checks a change, shows its consequences, and applies it. */
export function Review({ change, isChanged, onDiscard, onErrors, onLine }: Props): ReactNode {
  const words = useConfigurationWords();
  const client = useClient();
  const [problem, setProblem] = useState<unknown>();
  const reasonId = useId();
  const fail = (error: unknown) => {
    setProblem(error);
    onErrors?.(isClientError(error) ? getLines(error.details) : []);
  };
  const check = useChange({
    run: () => client.checkConfiguration(change),
    done: ({ errors }) => void onErrors?.(getLines(errors)),
    refresh: [],
    onProblem: fail,
  });
  const apply = useChange({
    run: () => client.writeConfiguration(change),
    done: ({ applied }) => words.applied(applied.join(", ")),
    refresh: ["configuration", "configuration-history", "agents", "agent", "models", "mcp"],
    onProblem: fail,
  });
  const result = check.data;
  const reason = !isChanged
    ? words.nothing
    : result === undefined
      ? words.applyNeedsCheck
      : result.errors.length > 0
        ? words.applyHasErrors
        : result.diff === ""
          ? words.nothing
          : undefined;
  const start = (work: typeof check | typeof apply) => () => {
    setProblem(undefined);
    work.mutate();
  };
  return (
    <Section title={words.checking}>
      {problem !== undefined && <Refusal error={problem} onLine={onLine} />}
      {result && <Result check={result} onLine={onLine} />}
      <Group gap="xs" justify="flex-end">
        {reason !== undefined && (
          <Text id={reasonId} size="sm" c="dimmed" role="status">
            {reason}
          </Text>
        )}
        <Button variant="default" disabled={!isChanged} onClick={onDiscard}>
          {words.discard}
        </Button>
        <Button variant="default" disabled={!isChanged} loading={check.isPending} onClick={start(check)}>
          {words.check}
        </Button>
        <Button
          disabled={reason !== undefined}
          aria-describedby={reason === undefined ? undefined : reasonId}
          loading={apply.isPending}
          onClick={start(apply)}
        >
          {words.apply}
        </Button>
      </Group>
    </Section>
  );
}

function getLines(problems: readonly { line?: number | undefined }[]): number[] {
  return problems.flatMap(({ line }) => (line === undefined ? [] : [line]));
}

function Refusal({ error, onLine }: { error: unknown; onLine: Props["onLine"] }): ReactNode {
  const words = useConfigurationWords();
  const queries = useQueryClient();
  if (isClientError(error) && error.code === "conflict")
    return (
      <ProblemNote
        problem={{ code: error.code, message: words.conflict }}
        action={{
          label: words.reload,
          run: () => void queries.invalidateQueries({ queryKey: ["configuration"] }),
        }}
      />
    );
  if (isClientError(error) && error.details.length > 0)
    return <ProblemList title={words.errors} problems={error.details} onLine={onLine} />;
  return <ProblemNote problem={toProblem(error)} />;
}

function Result({
  check: { errors, problems, keys, programs, forStart, diff },
  onLine,
}: {
  check: ConfigurationCheck;
  onLine: Props["onLine"];
}): ReactNode {
  const words = useConfigurationWords();
  const remarks = problems.filter(
    ({ path, message }) => !errors.some((error) => error.path === path && error.message === message),
  );
  return (
    <>
      <ProblemList title={words.errors} problems={errors} onLine={onLine} />
      <ProblemList title={words.warnings} problems={remarks} color="yellow" onLine={onLine} />
      {errors.length === 0 && <Effects keys={keys} forStart={forStart} programs={programs} />}
      {diff !== "" && <CodeBlock label={words.diff} text={diff} />}
    </>
  );
}
