import { Button, Group, Modal, Stack } from "@mantine/core";
import type { ConfigurationHistory } from "@signalbox/client";
import { IconHistory } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { useClient } from "../../gateway.tsx";
import { CodeBlock } from "../../parts/code-block.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Loaded } from "../../parts/page.tsx";
import { useChange } from "../../parts/use-change.ts";
import { useScopes } from "../../parts/use-scopes.ts";
import { useFormat } from "../../words/use-format.ts";
import { useWords } from "../../words/words.tsx";
import { Effects, Keys } from "./effects.tsx";
import { historyQuery, versionQuery } from "./queries.ts";
import { useConfigurationWords } from "./words.ts";

type Version = ConfigurationHistory["versions"][number];

/** Lists earlier versions with the keys that changed after each, shows their differences, and restores one. */
export function History({ revision }: { revision: string }): ReactNode {
  const { cancel } = useWords();
  const words = useConfigurationWords();
  const format = useFormat();
  const [shown, setShown] = useState<Version>();
  const close = () => setShown(undefined);
  const query = useQuery(historyQuery(useClient()));
  const columns: Column<Version>[] = [
    {
      id: "version",
      label: words.replaced,
      isMain: true,
      cell: ({ replacedAt }) => (
        <time dateTime={new Date(replacedAt).toISOString()}>{format.exactTime(replacedAt)}</time>
      ),
    },
    { id: "keys", label: words.changedKeys, cell: ({ keys }) => <Keys keys={keys} /> },
    { id: "actor", label: words.actor, cell: ({ actor }) => <bdi>{actor ?? words.otherActor}</bdi> },
    {
      id: "actions",
      label: words.actions,
      align: "end",
      cell: (version) => (
        <Button variant="default" size="xs" onClick={() => setShown(version)}>
          {words.show}
        </Button>
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
              onClose={close}
              title={shown && words.version(format.exactTime(shown.replacedAt))}
              size="xl"
              closeButtonProps={{ "aria-label": cancel }}
            >
              {shown !== undefined && <Comparison id={shown.id} revision={revision} onClose={close} />}
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

interface ComparisonProps {
  id: string;
  revision: string;
  onClose: () => void;
}

/** The difference between the current file and a version, and a button that restores it. */
function Comparison({ id, revision, onClose }: ComparisonProps): ReactNode {
  const { cancel } = useWords();
  const words = useConfigurationWords();
  const client = useClient();
  const scopes = useScopes();
  const query = useQuery(versionQuery(client, id));
  const rollback = useChange({
    run: async () => {
      await client.rollbackConfiguration({ id, revision });
      onClose();
    },
    done: words.rolledBack,
    refresh: ["configuration", "configuration-history", "configuration-version", "agents", "agent", "models"],
  });
  return (
    <Loaded query={query}>
      {({ diff, keys, forStart, programs }) =>
        diff === "" ? (
          words.same
        ) : (
          <Stack gap="sm">
            <CodeBlock label={words.diff} text={diff} />
            <Effects keys={keys} forStart={forStart} programs={programs} />
            {scopes.has("owner") && (
              <Group justify="flex-end" gap="xs">
                {words.rollsBack}
                <Button variant="default" onClick={onClose}>
                  {cancel}
                </Button>
                <Button color="red.9" loading={rollback.isPending} onClick={() => rollback.mutate()}>
                  {words.rollback}
                </Button>
              </Group>
            )}
          </Stack>
        )
      }
    </Loaded>
  );
}
