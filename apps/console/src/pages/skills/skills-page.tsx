import "../../styles/mantine-forms.css";
import { Alert, Card, Group, List, Stack, Text } from "@mantine/core";
import type { PendingSkill, SkillList } from "@signalbox/client";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useClient } from "../../gateway.tsx";
import { CodeBlock } from "../../parts/code-block.tsx";
import { ConfirmButton } from "../../parts/confirm-button.tsx";
import { Loaded, Page, Section } from "../../parts/page.tsx";
import { StateBadge } from "../../parts/state-badge.tsx";
import { useChange } from "../../parts/use-change.ts";
import { useScopes } from "../../parts/use-scopes.ts";
import { useWords } from "../../words/words.tsx";
import { AddSkill } from "./add-skill.tsx";
import { skillsQuery } from "./queries.ts";
import { SkillTable } from "./skill-table.tsx";
import { useSkillsWords } from "./words.ts";

/** Lists the skills of all agents, adds skills, and approves new and changed ones. */
export function SkillsPage(): ReactNode {
  const { pages } = useWords();
  const words = useSkillsWords();
  const query = useQuery(skillsQuery(useClient()));
  return (
    <Page title={pages.skills} description={words.description}>
      <Loaded query={query}>{(list) => <Skills list={list} />}</Loaded>
    </Page>
  );
}

function Skills({ list: { agents, pending, problems } }: { list: SkillList }): ReactNode {
  const words = useSkillsWords();
  const scopes = useScopes();
  return (
    <>
      {pending.length > 0 && (
        <Section title={words.pending}>
          {pending.map((skill) => (
            <Pending key={skill.dir} skill={skill} />
          ))}
        </Section>
      )}
      {problems.length > 0 && (
        <Alert color="red" title={words.problems}>
          <List size="sm">
            {problems.map((problem) => (
              <List.Item key={problem}>
                <bdi>{problem}</bdi>
              </List.Item>
            ))}
          </List>
        </Alert>
      )}
      {agents.map(({ agent, shard = agent, skills }) => (
        <Section key={shard} title={words.of(shard)}>
          <SkillTable label={words.of(shard)} skills={skills} />
        </Section>
      ))}
      {scopes.has("owner") && agents.length > 0 && (
        <Section title={words.add}>
          <AddSkill agents={agents.map(({ agent, shard = agent }) => shard)} />
        </Section>
      )}
    </>
  );
}

function Pending({ skill }: { skill: PendingSkill }): ReactNode {
  const { id, description, dir, digest, agents, added, changed, removed, diff } = skill;
  const words = useSkillsWords();
  const client = useClient();
  const scopes = useScopes();
  const approve = useChange({
    run: () => client.approveSkill({ id, digest }),
    done: words.approved(id),
    refresh: ["skills", "agent"],
  });
  const isNew = changed.length + removed.length === 0;
  return (
    <Card withBorder>
      <Stack gap="xs">
        <Group gap="xs">
          <Text fw={600}>
            <bdi>{id}</bdi>
          </Text>
          <StateBadge tone="warn">{isNew ? words.newSkill : words.changedSkill}</StateBadge>
        </Group>
        <Text size="sm">
          <bdi>{description}</bdi>
        </Text>
        <Text size="sm" c="dimmed">
          <bdi>{dir}</bdi>
        </Text>
        <Text size="sm" c="dimmed">
          {words.usedBy(agents.join(", "))} {words.files(added.length, changed.length, removed.length)}
        </Text>
        <CodeBlock label={words.changes} text={diff} />
        {scopes.has("owner") && (
          <Group justify="flex-end">
            <ConfirmButton
              label={words.approve}
              question={words.reallyApprove(id)}
              onConfirm={() => approve.mutate()}
            >
              {words.approves}
            </ConfirmButton>
          </Group>
        )}
      </Stack>
    </Card>
  );
}
