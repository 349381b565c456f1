import { Anchor } from "@mantine/core";
import type { Activity } from "@signalbox/client";
import { IconRobot } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { approvalsQuery } from "../../approvals/queries.ts";
import { useClient } from "../../gateway.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Figures } from "../../parts/figures.tsx";
import { LoadingRows, Page, Section } from "../../parts/page.tsx";
import { Time } from "../../parts/time.tsx";
import { useFormat } from "../../words/use-format.ts";
import { useWords } from "../../words/words.tsx";
import { Commands } from "./commands.tsx";
import { Runs } from "./runs.tsx";
import { Schedules } from "./schedules.tsx";
import { useActivity } from "./use-activity.ts";
import { WaitingMessages } from "./waiting-messages.tsx";
import { useActivityWords } from "./words.ts";

/** Current activity of the gateway: runs, waiting messages, background commands and schedules. */
export function ActivityPage(): ReactNode {
  const { pages } = useWords();
  const words = useActivityWords();
  const activity = useActivity();
  return (
    <Page title={pages.activity} description={words.description}>
      {activity === undefined ? <LoadingRows /> : <CurrentActivity activity={activity} />}
    </Page>
  );
}

function CurrentActivity({ activity }: { activity: Activity }): ReactNode {
  const words = useActivityWords();
  const format = useFormat();
  const { runs, waiting, commands, schedules } = activity;
  const { data: approvals = [] } = useQuery(approvalsQuery(useClient()));
  const next = schedules[0]?.nextAt;
  return (
    <>
      <Figures
        label={words.description}
        figures={[
          { name: words.runsInProgress, value: format.number(runs.length) },
          { name: words.messagesWaiting, value: format.number(waiting.length) },
          {
            name: words.approvalsWaiting,
            value:
              approvals.length === 0 ? (
                "0"
              ) : (
                <Anchor inherit renderRoot={(props) => <Link {...props} to="/approvals" />}>
                  {format.number(approvals.length)}
                </Anchor>
              ),
          },
          {
            name: words.nextSchedule,
            value: next === undefined ? words.nothingScheduled : <Time at={next} />,
          },
        ]}
      />
      <Section title={words.runs}>
        {runs.length === 0 ? (
          <Empty icon={IconRobot} title={words.noRuns}>
            {words.noRunsYet}
          </Empty>
        ) : (
          <Runs runs={runs} />
        )}
      </Section>
      {waiting.length > 0 && (
        <Section title={words.waiting}>
          <WaitingMessages messages={waiting} />
        </Section>
      )}
      {commands.length > 0 && (
        <Section title={words.commands}>
          <Commands commands={commands} />
        </Section>
      )}
      {schedules.length > 0 && (
        <Section title={words.schedules}>
          <Schedules schedules={schedules} />
        </Section>
      )}
    </>
  );
}
