import { Button, Group, Modal } from "@mantine/core";
import { IconHistory } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { useClient } from "../../gateway.tsx";
import { CodeBlock } from "../../parts/code-block.tsx";
import { ConfirmButton } from "../../parts/confirm-button.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Loaded } from "../../parts/page.tsx";
import { Time } from "../../parts/time.tsx";
import { useChange } from "../../parts/use-change.ts";
import { useScopes } from "../../parts/use-scopes.ts";
import { useWords } from "../../words/words.tsx";
import { historyQuery, versionQuery } from "./queries.ts";
import { useConfigurationWords } from "./words.ts";

interface Version {
  id: string;
  replacedAt: number;
}

/** Lists earlier versions, shows their differences, and restores one. */
export function History({ revision }: { revision: string }): ReactNode {
  const { cancel } = useWords();
  const words = useConfigurationWords();
  const client = useClient();
  const scopes = useScopes();
  const [shown, setShown] = useState<string>();
  const query = useQuery(historyQuery(client));
  const rollback = useChange({
    run: (id: string) => client.rollbackConfiguration({ id, revision }),
    done: words.rolledBack,
    refresh: ["configuration", "configuration-history", "configuration-version", "agents", "agent", "models"],
  });
  const columns: Column<Version>[] = [
    { id: "version", label: words.version, isMain: true, cell: ({ id }) => <bdi>{id}</bdi> },
    { id: "replaced", label: words.replaced, cell: ({ replacedAt }) => <Time at={replacedAt} /> },
    {
      id: "actions",
      label: words.actions,
      align: "end",
      cell: ({ id }) => (
        <Group gap="xs" justify="flex-end" wrap="nowrap">
          <Button variant="default" size="xs" onClick={() => setShown(id)}>
            {words.show}
          </Button>
          {scopes.has("owner") && (
            <ConfirmButton
              label={words.rollback}
              question={words.reallyRollback}
              onConfirm={() => rollback.mutate(id)}
            >
              {words.rollsBack}
            </ConfirmButton>
          )}
        </Group>
      ),
    },
  ];
  return (
    <Loaded query={query}>
      {(versions) =>
        versions.length === 0 ? (
          <Empty icon={IconHistory} title={words.noHistory}>
            {words.noHistoryYet}
          </Empty>
        ) : (
          <>
            <Modal
              opened={shown !== undefined}
              onClose={() => setShown(undefined)}
              title={shown}
              size="xl"
              closeButtonProps={{ "aria-label": cancel }}
            >
              {shown !== undefined && <Difference id={shown} />}
            </Modal>
            <DataTable
              label={words.views.history}
              columns={columns}
              rows={versions}
              rowKey={({ id }) => id}
            />
          </>
        )
      }
    </Loaded>
  );
}

function Difference({ id }: { id: string }): ReactNode {
  const words = useConfigurationWords();
  const query = useQuery(versionQuery(useClient(), id));
  return (
    <Loaded query={query}>
      {({ diff }) => (diff === "" ? words.same : <CodeBlock label={words.diff} text={diff} />)}
    </Loaded>
  );
}
