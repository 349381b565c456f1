import "../../styles/mantine-forms.css";
import { Button } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { TokenInfo } from "@signalbox/client";
import { IconKey, IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useClient } from "../../gateway.tsx";
import { ConfirmButton } from "../../parts/confirm-button.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Loaded, Page } from "../../parts/page.tsx";
import { StateBadge } from "../../parts/state-badge.tsx";
import { Time } from "../../parts/time.tsx";
import { useChange } from "../../parts/use-change.ts";
import { useScopes } from "../../parts/use-scopes.ts";
import { useWords } from "../../words/words.tsx";
import { tokensQuery } from "./queries.ts";
import { SignIns } from "./sign-ins.tsx";
import { TokenForm } from "./token-form.tsx";
import { useTokensWords } from "./words.ts";

/** Lists, creates and revokes tokens. */
export function TokensPage(): ReactNode {
  const { pages } = useWords();
  const words = useTokensWords();
  const [isOpen, { open, close }] = useDisclosure(false);
  const query = useQuery(tokensQuery(useClient()));
  const add = (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={open}>
      {words.add}
    </Button>
  );
  return (
    <Page title={pages.tokens} description={words.description} actions={useScopes().has("owner") && add}>
      <TokenForm isOpen={isOpen} onClose={close} />
      <Loaded query={query}>{(tokens) => <Tokens tokens={tokens} />}</Loaded>
      <SignIns />
    </Page>
  );
}

function Tokens({ tokens }: { tokens: readonly TokenInfo[] }): ReactNode {
  const words = useTokensWords();
  const client = useClient();
  const scopes = useScopes();
  const revoke = useChange({
    run: (name: string) => client.revokeToken(name),
    done: (_, name) => words.revoked(name),
    refresh: ["tokens"],
  });
  if (tokens.length === 0)
    return (
      <Empty icon={IconKey} title={words.none}>
        {words.noneYet}
      </Empty>
    );
  const columns: Column<TokenInfo>[] = [
    { id: "name", label: words.name, isMain: true, cell: ({ name }) => <bdi>{name}</bdi> },
    {
      id: "role",
      label: words.role,
      cell: ({ role }) => (
        <StateBadge tone={role === "owner" ? "warn" : "neutral"}>{words.roles[role]}</StateBadge>
      ),
    },
    ...(tokens.some(({ kind = "token" }) => kind !== "token")
      ? [
          {
            id: "kind",
            label: words.kind,
            cell: ({ kind = "token" }: TokenInfo) => words.kinds[kind],
          },
        ]
      : []),
    { id: "since", label: words.since, cell: ({ createdAt }) => <Time at={createdAt} /> },
    {
      id: "used",
      label: words.used,
      cell: ({ usedAt }) => (usedAt === undefined ? words.never : <Time at={usedAt} />),
    },
    ...(scopes.has("owner")
      ? [
          {
            id: "actions",
            label: words.actions,
            align: "end" as const,
            cell: ({ name }: TokenInfo) => (
              <ConfirmButton
                label={words.revoke}
                question={words.reallyRevoke(name)}
                onConfirm={() => revoke.mutate(name)}
              >
                {words.revokes}
              </ConfirmButton>
            ),
          },
        ]
      : []),
  ];
  return <DataTable label={words.description} columns={columns} rows={tokens} rowKey={({ name }) => name} />;
}
