import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { WaitingApprovals } from "../../approvals/waiting-approvals.tsx";
import { useClient } from "../../gateway.tsx";
import { Loaded, Page } from "../../parts/page.tsx";
import { approvalsQuery } from "../../queries.ts";
import { useWords } from "../../words/words.tsx";

/** Pending approvals of all sessions. */
export function ApprovalsPage(): ReactNode {
  const words = useWords();
  return (
    <Page title={words.pages.approvals}>
      <Loaded query={useQuery(approvalsQuery(useClient()))}>
        {(waiting) => waiting.length === 0 && <p className="help">{words.approvals.none}</p>}
      </Loaded>
      <WaitingApprovals />
    </Page>
  );
}
