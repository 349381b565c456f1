import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useRef } from "react";
import { useClient } from "../gateway.tsx";
import { ProblemNote } from "../parts/problem.tsx";
import { showDone } from "../parts/toasts.ts";
import { useWords } from "../words/words.tsx";
import { ApprovalCard, GoneCard } from "./approval-card.tsx";
import { approvalsQuery } from "./queries.ts";
import { useDecisions } from "./use-decisions.ts";
import classes from "./waiting-approvals.module.css";

/**
 * Pending approvals of all sessions, and those that disappeared while the user read them. A clicked button disappears
 * with its card, so the focus moves to this region, which is rendered even if it is empty.
 *
 * @param isInChat shows one approval at a time below the messages, with its buttons always visible
 */
export function WaitingApprovals({ isInChat = false }: { isInChat?: boolean }): ReactNode {
  const words = useWords();
  const client = useClient();
  const { data } = useQuery(approvalsQuery(client));
  const { decided, problem, decide, dismiss } = useDecisions(client, data, ({ approval, outcome }) => {
    if (outcome !== "gone") showDone(`${words.approvals[outcome]} ${approval.tool}`);
  });
  const gone = decided.filter(({ outcome }) => outcome === "gone");
  const answered = new Set(decided.map(({ approval }) => approval.id));
  const open = (data ?? []).filter(({ id }) => !answered.has(id));
  const shown = isInChat ? open.slice(0, 1) : open;
  const place = useRef<HTMLElement>(null);
  const isEmpty = open.length + gone.length === 0 && problem === undefined;
  return (
    <section
      ref={place}
      tabIndex={-1}
      className={isEmpty ? "" : isInChat ? classes["chat"] : classes["list"]}
      aria-label={isEmpty ? undefined : words.approvals.title}
    >
      {problem && <ProblemNote problem={problem} />}
      {gone.slice(isInChat ? -1 : 0).map(({ approval }) => (
        <GoneCard
          key={approval.id}
          approval={approval}
          onDismiss={() => {
            place.current?.focus();
            dismiss(approval.id);
          }}
        />
      ))}
      {shown.map((approval) => (
        <ApprovalCard
          key={approval.id}
          approval={approval}
          position={isInChat && open.length > 1 ? `1 / ${open.length}` : undefined}
          onAnswer={(answer) => {
            place.current?.focus();
            void decide(approval, answer);
          }}
        />
      ))}
    </section>
  );
}
