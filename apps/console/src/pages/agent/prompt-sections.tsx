import { Progress, Text } from "@mantine/core";
import type { AgentPrompt } from "@signalbox/client";
import { IconFileText } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useClient } from "../../gateway.tsx";
import { CodeBlock } from "../../parts/code-block.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Empty } from "../../parts/empty.tsx";
import { TextLink } from "../../parts/links.tsx";
import { Loaded, Section } from "../../parts/page.tsx";
import { StateBadge } from "../../parts/state-badge.tsx";
import { useFormat } from "../../words/use-format.ts";
import classes from "./prompt-sections.module.css";
import { promptQuery } from "./queries.ts";
import { useAgentWords } from "./words.ts";

type PromptSection = AgentPrompt["sections"][number];

/** The sections of the latest prompt with their size. */
export function PromptSections({ agent }: { agent: string }): ReactNode {
  const words = useAgentWords();
  const query = useQuery(promptQuery(useClient(), agent));
  return (
    <Loaded query={query}>
      {(prompt) =>
        prompt === null ? (
          <Empty icon={IconFileText} title={words.noPrompt}>
            {words.noPromptYet}
          </Empty>
        ) : (
          <Sections prompt={prompt} />
        )
      }
    </Loaded>
  );
}

function Sections({ prompt: { sections, model, messageId } }: { prompt: AgentPrompt }): ReactNode {
  const words = useAgentWords();
  const format = useFormat();
  const total = sections.reduce((sum, { tokens }) => sum + tokens, 0);
  const columns: Column<PromptSection>[] = [
    { id: "section", label: words.section, isMain: true, cell: ({ name }) => <bdi>{name}</bdi> },
    {
      id: "part",
      label: words.part,
      cell: ({ part }) => (
        <StateBadge tone={part === "stable" ? "good" : "neutral"}>
          {part === "stable" ? words.parts.stable : words.parts.volatile}
        </StateBadge>
      ),
    },
    { id: "tokens", label: words.tokens, align: "end", cell: ({ tokens }) => format.number(tokens) },
    {
      id: "share",
      label: words.share,
      isDetail: true,
      cell: ({ name, tokens }) => (
        <Progress
          value={total === 0 ? 0 : (tokens / total) * 100}
          aria-label={`${name}: ${format.percent(tokens / total)}`}
        />
      ),
    },
  ];
  return (
    <>
      <Text size="sm" c="dimmed" mb="sm">
        {words.promptHelp(model)}{" "}
        <TextLink to="/message/$id" params={{ id: messageId }} size="sm">
          {words.openMessage}
        </TextLink>
      </Text>
      <DataTable
        label={words.tabs.prompt}
        columns={columns}
        rows={sections}
        rowKey={({ name, part }) => `${part} ${name}`}
      />
      <Text mt="sm" fw={600}>
        {words.total}: {format.number(total)}
      </Text>
      <Section title={words.texts}>
        <SectionTexts sections={sections} />
      </Section>
    </>
  );
}

/** The text of each section, folded. */
function SectionTexts({ sections }: { sections: readonly PromptSection[] }): ReactNode {
  const words = useAgentWords();
  const format = useFormat();
  const known = sections.flatMap(({ name, tokens, text }) =>
    text === undefined ? [] : [{ name, tokens, text }],
  );
  if (known.length === 0)
    return (
      <Text size="sm" c="dimmed">
        {words.noTexts}
      </Text>
    );
  return (
    <div>
      {known.map(({ name, tokens, text }) => (
        <details key={name} className={classes["text"]}>
          <summary>
            <bdi>{words.sectionTokens(name, format.number(tokens))}</bdi>
          </summary>
          <CodeBlock label={name} text={text} isWrapped />
        </details>
      ))}
    </div>
  );
}
