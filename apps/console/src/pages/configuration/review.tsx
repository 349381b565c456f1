import { Alert, Button, Group, List } from "@mantine/core";
import { type ConfigurationChange, type ConfigurationCheck, isClientError } from "@signalbox/client";
import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { useClient } from "../../gateway.tsx";
import { CodeBlock } from "../../parts/code-block.tsx";
import { Section } from "../../parts/page.tsx";
import { ProblemNote, toProblem } from "../../parts/problem.tsx";
import { useChange } from "../../parts/use-change.ts";
import { ProblemList } from "./problem-list.tsx";
import { useConfigurationWords } from "./words.ts";

interface Props {
  change: ConfigurationChange;
  isChanged: boolean;
  onDiscard: () => void;
}

/** Checks a change, shows its consequences, and applies it. */
export function Review({ change, isChanged, onDiscard }: Props): ReactNode {
  const words = useConfigurationWords();
  const client = useClient();
  const [problem, setProblem] = useState<unknown>();
  const check = useChange({
    run: () => client.checkConfiguration(change),
    refresh: [],
    onProblem: setProblem,
  });
  const apply = useChange({
    run: () => client.writeConfiguration(change),
    done: ({ applied }) => words.applied(applied.join(", ")),
    refresh: ["configuration", "configuration-history", "agents", "agent", "models", "mcp"],
    onProblem: setProblem,
  });
  const result = check.data;
  const start = (work: typeof check | typeof apply) => () => {
    setProblem(undefined);
    work.mutate();
  };
  return (
    <Section title={words.checking}>
      {problem !== undefined && <Refusal error={problem} />}
      {result && <Result check={result} />}
      {!isChanged && words.nothing}
      <Group gap="xs" justify="flex-end">
        <Button variant="default" disabled={!isChanged} onClick={onDiscard}>
          {words.discard}
        </Button>
        <Button variant="default" disabled={!isChanged} loading={check.isPending} onClick={start(check)}>
          {words.check}
        </Button>
        <Button
          disabled={result === undefined || result.errors.length > 0 || result.diff === ""}
          loading={apply.isPending}
          onClick={start(apply)}
        >
          {words.apply}
        </Button>
      </Group>
    </Section>
  );
}

function Refusal({ error }: { error: unknown }): ReactNode {
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
    return <ProblemList title={words.errors} problems={error.details} />;
  return <ProblemNote problem={toProblem(error)} />;
}

function Result({
  check: { errors, problems, programs, forStart, diff },
}: {
  check: ConfigurationCheck;
}): ReactNode {
  const words = useConfigurationWords();
  const remarks = problems.filter(
    ({ path, message }) => !errors.some((error) => error.path === path && error.message === message),
  );
  return (
    <>
      <ProblemList title={words.errors} problems={errors} />
      <ProblemList title={words.warnings} problems={remarks} color="yellow" />
      {programs.length > 0 && (
        <Alert color="red" title={words.programs}>
          <List size="sm">
            {programs.map((program) => (
              <List.Item key={program}>
                <bdi>{program}</bdi>
              </List.Item>
            ))}
          </List>
        </Alert>
      )}
      {forStart.length > 0 && <Alert color="yellow">{words.restart(forStart.join(", "))}</Alert>}
      {diff === "" ? words.nothing : <CodeBlock label={words.diff} text={diff} />}
    </>
  );
}
