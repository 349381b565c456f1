import type { Activity } from "@signalbox/client";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useClient } from "../../gateway.tsx";
import { Page } from "../../parts/page.tsx";
import { approvalsQuery } from "../../queries.ts";
import { useWords } from "../../words/words.tsx";
import { Commands } from "./commands.tsx";
import { Runs } from "./runs.tsx";
import { Schedules } from "./schedules.tsx";
import { useActivity } from "./use-activity.ts";
import { WaitingMessages } from "./waiting-messages.tsx";

/** Current activity of the gateway: runs, waiting messages, background commands and schedules. */
export function ActivityPage(): ReactNode {
  const words = useWords();
  const activity = useActivity();
  return (
    <Page title={words.pages.activity}>
      {activity === undefined ? (
        <p className="help" role="status">
          {words.loading}
        </p>
      ) : (
        <Everything activity={activity} />
      )}
    </Page>
  );
}

function Everything({ activity: { runs, waiting, commands, schedules } }: { activity: Activity }): ReactNode {
  const { activity: words } = useWords();
  return (
    <>
      <p role="status" className="sentence">
        {words.summary(runs.length, waiting.length)}
      </p>
      <OpenQuestions />
      <h3>{words.runs}</h3>
      {runs.length === 0 ? <p className="help">{words.noRuns}</p> : <Runs runs={runs} />}
      <h3>{words.waiting}</h3>
      {waiting.length === 0 ? (
        <p className="help">{words.nothingWaits}</p>
      ) : (
        <WaitingMessages messages={waiting} />
      )}
      <h3>{words.commands}</h3>
      {commands.length === 0 ? <p className="help">{words.noCommands}</p> : <Commands commands={commands} />}
      <h3>{words.schedules}</h3>
      {schedules.length === 0 ? (
        <p className="help">{words.noSchedules}</p>
      ) : (
        <Schedules schedules={schedules} />
      )}
    </>
  );
}

/** Link to the pending approvals, if any. */
function OpenQuestions(): ReactNode {
  const { activity: words } = useWords();
  const { data: open = [] } = useQuery(approvalsQuery(useClient()));
  if (open.length === 0) return null;
  return (
    <p>
      <Link to="/approvals">{words.approvals(open.length)}</Link>
    </p>
  );
}
