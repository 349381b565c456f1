import { Alert, Avatar, Group, Text } from "@mantine/core";
import type { ConfiguredPerson, PairedPerson, PairingRequest } from "@signalbox/client";
import { IconCrown, IconUserQuestion, IconUsers } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useClient } from "../../gateway.tsx";
import { ConfirmButton } from "../../parts/confirm-button.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Loaded, Page, Section } from "../../parts/page.tsx";
import { Time } from "../../parts/time.tsx";
import { useChange } from "../../parts/use-change.ts";
import { useScopes } from "../../parts/use-scopes.ts";
import { useWords } from "../../words/words.tsx";
import { CodeForm } from "./code-form.tsx";
import { pairingsQuery } from "./queries.ts";
import { usePeopleWords } from "./words.ts";

/** Paired people, pending pairing requests, and a form to approve a code. */
export function PeoplePage(): ReactNode {
  const { pages } = useWords();
  const words = usePeopleWords();
  const scopes = useScopes();
  const query = useQuery(pairingsQuery(useClient()));
  return (
    <Page title={pages.people} description={words.description}>
      {scopes.has("owner") && <CodeForm />}
      <Loaded query={query}>
        {({ pending, paired, owners, allowed }) => (
          <>
            <Section title={words.pending}>
              <Pending pending={pending} />
            </Section>
            <Section title={words.paired}>
              <Paired paired={paired} />
            </Section>
            <Section title={words.owners}>
              <Owners owners={owners} />
            </Section>
            {allowed.length > 0 && (
              <Section title={words.allowed}>
                <Configured label={words.allowed} people={allowed} />
              </Section>
            )}
          </>
        )}
      </Loaded>
    </Page>
  );
}

type AnyPerson = Pick<PairedPerson, "channel" | "account" | "peer" | "label">;

function getKey({ channel, account, peer }: AnyPerson): string {
  return `${channel} ${account} ${peer}`;
}

/** The columns that identify a person. */
function usePersonColumns(): Column<AnyPerson>[] {
  const words = usePeopleWords();
  return [
    {
      id: "person",
      label: words.person,
      isMain: true,
      cell: ({ label, peer }) => (
        <Group gap="xs" wrap="nowrap">
          <Avatar size={26} name={label ?? peer} color="signal" aria-hidden />
          <bdi>{label ?? peer}</bdi>
        </Group>
      ),
    },
    {
      id: "via",
      label: words.via,
      cell: ({ channel, account, peer }) => (
        <>
          {channel}/{account} · <bdi>{peer}</bdi>
        </>
      ),
    },
  ];
}

function Pending({ pending }: { pending: readonly PairingRequest[] }): ReactNode {
  const words = usePeopleWords();
  const person = usePersonColumns();
  if (pending.length === 0)
    return (
      <Empty icon={IconUserQuestion} title={words.nobodyWaits}>
        {words.nobodyWaitsYet}
      </Empty>
    );
  const columns: Column<PairingRequest>[] = [
    ...person,
    { id: "expires", label: words.expires, cell: ({ expiresAt }) => <Time at={expiresAt} /> },
  ];
  return (
    <>
      <Alert
        color="yellow"
        icon={<IconUserQuestion size={18} aria-hidden />}
        title={words.notice(pending.length)}
      >
        {words.noticeHelp}
      </Alert>
      <DataTable label={words.pending} columns={columns} rows={pending} rowKey={getKey} />
    </>
  );
}

function Owners({ owners }: { owners: readonly ConfiguredPerson[] }): ReactNode {
  const words = usePeopleWords();
  if (owners.length === 0)
    return (
      <Empty icon={IconCrown} title={words.noOwners}>
        {words.noOwnersYet}
      </Empty>
    );
  return (
    <>
      <Text size="sm" c="dimmed">
        {words.ownersHelp}
      </Text>
      <Configured label={words.owners} people={owners} />
    </>
  );
}

/** People whom the configuration names. */
function Configured({ label, people }: { label: string; people: readonly ConfiguredPerson[] }): ReactNode {
  const words = usePeopleWords();
  const columns: Column<ConfiguredPerson>[] = [
    {
      id: "person",
      label: words.person,
      isMain: true,
      cell: ({ entry, label: name = entry }) => (
        <Group gap="xs" wrap="nowrap">
          <Avatar size={26} name={name} color="signal" aria-hidden />
          <bdi>{name}</bdi>
        </Group>
      ),
    },
    { id: "entry", label: words.entry, cell: ({ entry }) => <bdi>{entry}</bdi> },
  ];
  return <DataTable label={label} columns={columns} rows={people} rowKey={({ entry }) => entry} />;
}

function Paired({ paired }: { paired: readonly PairedPerson[] }): ReactNode {
  const words = usePeopleWords();
  const client = useClient();
  const person = usePersonColumns();
  const revoke = useChange({
    run: ({ channel, account, peer }: PairedPerson) => client.revokePairing({ channel, account, peer }),
    done: (_, { label, peer }) => words.revoked(label ?? peer),
    refresh: ["pairings"],
  });
  if (paired.length === 0)
    return (
      <Empty icon={IconUsers} title={words.nobodyPaired}>
        {words.nobodyPairedYet}
      </Empty>
    );
  const columns: Column<PairedPerson>[] = [
    ...person,
    { id: "since", label: words.since, cell: ({ approvedAt }) => <Time at={approvedAt} /> },
    { id: "by", label: words.by, isDetail: true, cell: ({ approvedBy }) => <bdi>{approvedBy}</bdi> },
    {
      id: "actions",
      label: words.actions,
      align: "end",
      cell: (row) => (
        <ConfirmButton
          label={words.revoke}
          question={words.reallyRevoke(row.label ?? row.peer)}
          onConfirm={() => revoke.mutate(row)}
        >
          {words.revokes}
        </ConfirmButton>
      ),
    },
  ];
  return <DataTable label={words.paired} columns={columns} rows={paired} rowKey={getKey} />;
}
