import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useRef } from "react";
import { useClient } from "../gateway.tsx";
import { ProblemNote } from "../parts/problem.tsx";
import { approvalsQuery } from "../queries.ts";
import { useWords } from "../words/words.tsx";
import { ApprovalCard, DecidedCard } from "./approval-card.tsx";
import { useDecisions } from "./use-decisions.ts";

/**
 * Pending approvals of all sessions, and those that were decided here. A clicked button disappears with its card, so
 * the focus moves to this region, which is rendered even if it is empty.
 */
export function WaitingApprovals(): ReactNode {
  const words = useWords();
  const client = useClient();
  const { data } = useQuery(approvalsQuery(client));
  const { decided, problem, decide, dismiss } = useDecisions(client, data);
  const answered = new Set(decided.map(({ approval }) => approval.id));
  const open = (data ?? []).filter(({ id }) => !answered.has(id));
  const place = useRef<HTMLElement>(null);
  const isEmpty = open.length + decided.length === 0 && problem === undefined;
  return (
    <section
      ref={place}
      tabIndex={-1}
      className={isEmpty ? "" : "approvals"}
      aria-label={isEmpty ? undefined : words.pages.approvals}
    >
      {problem && <ProblemNote problem={problem} />}
      {open.map((approval) => (
        <ApprovalCard
          key={approval.id}
          approval={approval}
          onAnswer={(answer) => {
            place.current?.focus();
            void decide(approval, answer);
          }}
        />
      ))}
      {decided.map((each) => (
        <DecidedCard
          key={each.approval.id}
          decided={each}
          onDismiss={() => {
            place.current?.focus();
            dismiss(each.approval.id);
          }}
        />
      ))}
    </section>
  );
}
