import type { DecidedApproval } from "@signalbox/client";
import { IconHistory, IconShieldCheck } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { approvalHistoryQuery, approvalsQuery } from "../../approvals/queries.ts";
import { WaitingApprovals } from "../../approvals/waiting-approvals.tsx";
import { useClient } from "../../gateway.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Loaded, Page, Section } from "../../parts/page.tsx";
import { StateBadge, type Tone } from "../../parts/state-badge.tsx";
import { Time } from "../../parts/time.tsx";
import { useWords } from "../../words/words.tsx";
import { useApprovalsWords } from "./words.ts";

/** Pending approvals of all sessions, and earlier ones with their outcomes. */
export function ApprovalsPage(): ReactNode {
  const { pages } = useWords();
  const words = useApprovalsWords();
  const client = useClient();
  const history = useQuery(approvalHistoryQuery(client));
  return (
    <Page title={pages.approvals} description={words.description}>
      <Loaded query={useQuery(approvalsQuery(client))} rows={2}>
        {(waiting) =>
          waiting.length === 0 && (
            <Empty icon={IconShieldCheck} title={words.none}>
              {words.noneYet}
            </Empty>
          )
        }
      </Loaded>
      <WaitingApprovals />
      <Section title={words.history}>
        <Loaded query={history}>
          {(approvals) => <History approvals={approvals.filter(({ state }) => state !== "pending")} />}
        </Loaded>
      </Section>
    </Page>
  );
}

/** Returns the color of an outcome. */
function toneOf(state: string): Tone {
  if (state === "denied") return "bad";
  return state === "allowed" || state === "used" ? "good" : "neutral";
}

function History({ approvals }: { approvals: readonly DecidedApproval[] }): ReactNode {
  const words = useApprovalsWords();
  if (approvals.length === 0)
    return (
      <Empty icon={IconHistory} title={words.noHistory}>
        {words.noHistoryYet}
      </Empty>
    );
  const columns: Column<DecidedApproval>[] = [
    {
      id: "action",
      label: words.action,
      isMain: true,
      cell: ({ sessionKey, action }) => (
        <Link to="/session/$key" params={{ key: sessionKey }}>
          <bdi>{action.slice(0, 300)}</bdi>
        </Link>
      ),
    },
    { id: "tool", label: words.tool, cell: ({ tool }) => <code>{tool}</code> },
    { id: "agent", label: words.agent, isDetail: true, cell: ({ agent }) => agent },
    {
      id: "outcome",
      label: words.outcome,
      cell: ({ state }) => <StateBadge tone={toneOf(state)}>{words.states[state] ?? state}</StateBadge>,
    },
    { id: "by", label: words.by, cell: ({ approver }) => approver && <bdi>{approver}</bdi> },
    {
      id: "time",
      label: words.time,
      cell: ({ decidedAt, createdAt }) => <Time at={decidedAt ?? createdAt} />,
    },
  ];
  return <DataTable label={words.history} columns={columns} rows={approvals} rowKey={({ id }) => id} />;
}
