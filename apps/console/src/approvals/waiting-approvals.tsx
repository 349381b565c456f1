import type { Client } from "@signalbox/client";
import type { ReactNode } from "react";
import { ProblemNote } from "../parts/problem.tsx";
import { useWords } from "../words/words.tsx";
import { ApprovalCard, DecidedCard } from "./approval-card.tsx";
import { useApprovals, useDecisions } from "./use-approvals.ts";

/** What waits for a word, in any session, and what was decided here. Nothing where there is neither. */
export function WaitingApprovals({ client }: { client: Client }): ReactNode {
  const words = useWords();
  const { data } = useApprovals(client);
  const { decided, problem, decide, dismiss } = useDecisions(client, data);
  const answered = new Set(decided.map(({ approval }) => approval.id));
  const open = (data ?? []).filter(({ id }) => !answered.has(id));
  if (open.length + decided.length === 0 && problem === undefined) return null;
  return (
    <section className="approvals" aria-label={words.pages.approvals}>
      {problem && <ProblemNote problem={problem} />}
      {open.map((approval) => (
        <ApprovalCard
          key={approval.id}
          approval={approval}
          onAnswer={(answer) => void decide(approval, answer)}
        />
      ))}
      {decided.map((each) => (
        <DecidedCard key={each.approval.id} decided={each} onDismiss={() => dismiss(each.approval.id)} />
      ))}
    </section>
  );
}
