import { Button, Group, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { MessageInfo, ScheduleInfo } from "@signalbox/client";
import { IconClock, IconPlayerPause, IconPlayerPlay, IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useClient } from "../../gateway.tsx";
import { ConfirmButton } from "../../parts/confirm-button.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Empty } from "../../parts/empty.tsx";
import { TextLink } from "../../parts/links.tsx";
import { MessageState } from "../../parts/message-state.tsx";
import { Loaded, Page } from "../../parts/page.tsx";
import { StateBadge } from "../../parts/state-badge.tsx";
import { Time } from "../../parts/time.tsx";
import { useChange } from "../../parts/use-change.ts";
import { useScopes } from "../../parts/use-scopes.ts";
import { useWords } from "../../words/words.tsx";
import { formatPlace } from "./format-place.ts";
import { schedulesQuery } from "./queries.ts";
import { ScheduleForm } from "./schedule-form.tsx";
import { useSchedulesWords } from "./words.ts";

/** Lists schedules with their latest runs, and adds, runs, pauses and deletes them. */
export function SchedulesPage(): ReactNode {
  const { pages } = useWords();
  const words = useSchedulesWords();
  const scopes = useScopes();
  const [isOpen, { open, close }] = useDisclosure(false);
  const query = useQuery(schedulesQuery(useClient()));
  const add = (
    <Button leftSection={<IconPlus size={16} aria-hidden />} onClick={open}>
      {words.add}
    </Button>
  );
  return (
    <Page title={pages.schedules} description={words.description} actions={scopes.has("owner") && add}>
      <ScheduleForm isOpen={isOpen} onClose={close} />
      <Loaded query={query}>{(schedules) => <Schedules schedules={schedules} />}</Loaded>
    </Page>
  );
}

function Schedules({ schedules }: { schedules: readonly ScheduleInfo[] }): ReactNode {
  const words = useSchedulesWords();
  const scopes = useScopes();
  if (schedules.length === 0)
    return (
      <Empty icon={IconClock} title={words.none}>
        {words.noneYet}
      </Empty>
    );
  const columns: Column<ScheduleInfo>[] = [
    {
      id: "text",
      label: words.text,
      isMain: true,
      cell: ({ text }) => (
        <Text size="sm" lineClamp={3} title={text}>
          <bdi>{text}</bdi>
        </Text>
      ),
    },
    { id: "when", label: words.when, cell: ({ when }) => <bdi>{when}</bdi> },
    { id: "agent", label: words.agent, isDetail: true, cell: ({ agent }) => <bdi>{agent}</bdi> },
    {
      id: "place",
      label: words.answersIn,
      cell: ({ session, place }) =>
        session === undefined ? (
          words.heartbeatPlace
        ) : (
          <TextLink to="/session/$key" params={{ key: session }}>
            <bdi>{place === undefined ? session : formatPlace(place, words.page)}</bdi>
          </TextLink>
        ),
    },
    {
      id: "next",
      label: words.next,
      cell: ({ nextAt, paused }) =>
        paused ? <StateBadge tone="neutral">{words.paused}</StateBadge> : <Time at={nextAt} />,
    },
    { id: "last", label: words.last, cell: (schedule) => <LatestRun schedule={schedule} /> },
    ...(scopes.has("write")
      ? [
          {
            id: "actions",
            label: words.actions,
            align: "end" as const,
            cell: (schedule: ScheduleInfo) => <Actions schedule={schedule} />,
          },
        ]
      : []),
  ];
  return (
    <DataTable
      label={words.description}
      columns={columns}
      rows={schedules}
      rowKey={({ id, agent }) => `${id} ${agent}`}
    />
  );
}

function LatestRun({ schedule: { last, lastAt } }: { schedule: ScheduleInfo }): ReactNode {
  const words = useSchedulesWords();
  const { messageStates } = useWords();
  if (last === undefined) return lastAt === undefined ? words.never : <Time at={lastAt} />;
  const isKnown = last.state in messageStates;
  return (
    <Group gap={4}>
      {isKnown && <MessageState state={last.state as MessageInfo["state"]} />}
      <TextLink to="/message/$id" params={{ id: last.messageId }}>
        <Time at={last.at} />
      </TextLink>
    </Group>
  );
}

function Actions({ schedule: { id, paused = false } }: { schedule: ScheduleInfo }): ReactNode {
  const words = useSchedulesWords();
  const client = useClient();
  const refresh = ["schedules"];
  const run = useChange({
    run: () => client.runSchedule(id),
    done: (outcome) => (outcome === "taken" ? words.ran : words.later),
    refresh,
  });
  const pause = useChange({
    run: () => client.pauseSchedule(id, !paused),
    done: paused ? words.isResumed : words.isPaused,
    refresh,
  });
  const remove = useChange({ run: () => client.removeSchedule(id), done: words.removed, refresh });
  // The configuration sets heartbeats.
  if (id === "heartbeat") return null;
  return (
    <Group gap={6} justify="flex-end" wrap="nowrap">
      <Button variant="default" size="xs" loading={run.isPending} onClick={() => run.mutate()}>
        {words.run}
      </Button>
      <Button
        variant="default"
        size="xs"
        leftSection={
          paused ? <IconPlayerPlay size={13} aria-hidden /> : <IconPlayerPause size={13} aria-hidden />
        }
        loading={pause.isPending}
        onClick={() => pause.mutate()}
      >
        {paused ? words.resume : words.pause}
      </Button>
      <ConfirmButton
        label={words.remove}
        question={words.reallyRemove(id)}
        onConfirm={() => remove.mutate()}
      />
    </Group>
  );
}
