import { Badge, Group, Text, Title } from "@mantine/core";
import type { SignInInfo } from "@signalbox/client";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useClient } from "../../gateway.tsx";
import { ConfirmButton } from "../../parts/confirm-button.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Loaded } from "../../parts/page.tsx";
import { Time } from "../../parts/time.tsx";
import { useChange } from "../../parts/use-change.ts";
import { useScopes } from "../../parts/use-scopes.ts";
import { signInsQuery } from "./queries.ts";
import { useTokensWords } from "./words.ts";

/** Lists the browsers that are signed in, and signs them out. */
export function SignIns(): ReactNode {
  const words = useTokensWords();
  const query = useQuery(signInsQuery(useClient()));
  return (
    <section>
      <Title order={2} size="h4" mt="xl" mb="xs">
        {words.signIns}
      </Title>
      <Loaded query={query}>
        {(signIns) => (signIns.length === 0 ? <Text>{words.noSignIns}</Text> : <Table signIns={signIns} />)}
      </Loaded>
    </section>
  );
}

function Table({ signIns }: { signIns: readonly SignInInfo[] }): ReactNode {
  const words = useTokensWords();
  const client = useClient();
  const scopes = useScopes();
  const end = useChange({
    run: ({ id }: SignInInfo) => client.endSignIn(id),
    done: (_, { name }) => words.ended(name),
    refresh: ["sign-ins"],
  });
  const columns: Column<SignInInfo>[] = [
    {
      id: "name",
      label: words.name,
      isMain: true,
      cell: ({ name, isCurrent }) => (
        <Group gap="xs">
          <bdi>{name}</bdi>
          {isCurrent && <Badge variant="light">{words.current}</Badge>}
        </Group>
      ),
    },
    { id: "method", label: words.kind, cell: ({ method = "token" }) => words.methods[method] },
    { id: "remote", label: words.remote, isDetail: true, cell: ({ remote = "–" }) => <bdi>{remote}</bdi> },
    {
      id: "browser",
      label: words.browser,
      isDetail: true,
      cell: ({ userAgent = "–" }) => (
        <Text size="sm" lineClamp={1} title={userAgent}>
          <bdi>{userAgent}</bdi>
        </Text>
      ),
    },
    { id: "since", label: words.signedIn, cell: ({ createdAt }) => <Time at={createdAt} /> },
    { id: "used", label: words.used, cell: ({ usedAt }) => <Time at={usedAt} /> },
    ...(scopes.has("owner")
      ? [
          {
            id: "actions",
            label: words.actions,
            align: "end" as const,
            cell: (signIn: SignInInfo) => (
              <ConfirmButton
                label={words.end}
                question={words.reallyEnd(signIn.name)}
                onConfirm={() => end.mutate(signIn)}
              >
                {words.endHelp}
              </ConfirmButton>
            ),
          },
        ]
      : []),
  ];
  return <DataTable label={words.signIns} columns={columns} rows={signIns} rowKey={({ id }) => id} />;
}
