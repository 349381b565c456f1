import { Button } from "@mantine/core";
import type { ModelInfo, ModelList } from "@signalbox/client";
import { IconCpu } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { useClient, useGateway } from "../../gateway.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Empty } from "../../parts/empty.tsx";
import { ButtonLink } from "../../parts/links.tsx";
import { Loaded, Page, Section } from "../../parts/page.tsx";
import { SearchField } from "../../parts/search-field.tsx";
import { showDone, showProblem } from "../../parts/toasts.ts";
import { useChange } from "../../parts/use-change.ts";
import { useScopes } from "../../parts/use-scopes.ts";
import { useFormat } from "../../words/use-format.ts";
import { useWords } from "../../words/words.tsx";
import { modelsQuery } from "./queries.ts";
import { useModelsWords } from "./words.ts";

/** Lists the models of all providers and tries one. */
export function ModelsPage(): ReactNode {
  const { pages } = useWords();
  const words = useModelsWords();
  const query = useQuery(modelsQuery(useClient()));
  const setUp = (
    <ButtonLink to="/setup" variant="default">
      {words.setUp}
    </ButtonLink>
  );
  return (
    <Page title={pages.models} description={words.description} actions={setUp}>
      <Loaded query={query}>{(list) => <Models list={list} />}</Loaded>
    </Page>
  );
}

function Models({ list: { providers, models } }: { list: ModelList }): ReactNode {
  const words = useModelsWords();
  const [wanted, setWanted] = useState("");
  if (providers.length === 0)
    return (
      <Empty icon={IconCpu} title={words.none} action={<ButtonLink to="/setup">{words.setUp}</ButtonLink>}>
        {words.noneYet}
      </Empty>
    );
  const shown = models.filter(({ model }) => model.toLowerCase().includes(wanted.trim().toLowerCase()));
  return (
    <>
      <SearchField label={words.search} wanted={wanted} onSearch={setWanted} />
      {providers.map((provider) => {
        const own = shown.filter(({ model }) => model.startsWith(`${provider}/`));
        return (
          own.length > 0 && (
            <Section key={provider} title={provider}>
              <ModelTable label={provider} models={own} />
            </Section>
          )
        );
      })}
    </>
  );
}

function ModelTable({ label, models }: { label: string; models: readonly ModelInfo[] }): ReactNode {
  const words = useModelsWords();
  const format = useFormat();
  const scopes = useScopes();
  const { agents } = useGateway().me;
  const columns: Column<ModelInfo>[] = [
    { id: "model", label: words.model, isMain: true, cell: ({ model }) => <bdi>{model}</bdi> },
    {
      id: "window",
      label: words.window,
      cell: ({ contextWindow }) => words.tokens(format.compact(contextWindow)),
    },
    {
      id: "price",
      label: words.price,
      cell: ({ inputPrice, outputPrice }) =>
        inputPrice === undefined || outputPrice === undefined
          ? words.unknown
          : words.inAndOut(format.cost(inputPrice), format.cost(outputPrice)),
    },
    {
      id: "agents",
      label: words.usedBy,
      isDetail: true,
      cell: ({ model }) => (
        <bdi>
          {agents
            .filter((agent) => agent.model === model)
            .map(({ name }) => name)
            .join(", ")}
        </bdi>
      ),
    },
    ...(scopes.has("write")
      ? [
          {
            id: "actions",
            label: words.actions,
            align: "end" as const,
            cell: ({ model }: ModelInfo) => <TryButton model={model} />,
          },
        ]
      : []),
  ];
  return <DataTable label={label} columns={columns} rows={models} rowKey={({ model }) => model} />;
}

function TryButton({ model }: { model: string }): ReactNode {
  const words = useModelsWords();
  const format = useFormat();
  const client = useClient();
  const trial = useChange({ run: () => client.tryModel(model), refresh: [] });
  const start = () =>
    trial.mutate(undefined, {
      onSuccess: ({ ok, detail, remedy, durationMs }) => {
        if (ok) showDone(words.answers(model, format.duration(durationMs)));
        else showProblem({ code: "model", message: words.fails(model), remedy: [detail, remedy].join(" ") });
      },
    });
  return (
    <Button variant="default" size="xs" loading={trial.isPending} onClick={start}>
      {words.tryIt}
    </Button>
  );
}
