import { IconShieldCheck } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { approvalsQuery } from "../../approvals/queries.ts";
import { WaitingApprovals } from "../../approvals/waiting-approvals.tsx";
import { useClient } from "../../gateway.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Loaded, Page } from "../../parts/page.tsx";
import { useWords } from "../../words/words.tsx";
import { useApprovalsWords } from "./words.ts";

/** Pending approvals of all sessions. */
export function ApprovalsPage(): ReactNode {
  const { pages } = useWords();
  const words = useApprovalsWords();
  return (
    <Page title={pages.approvals} description={words.description}>
      <Loaded query={useQuery(approvalsQuery(useClient()))}>
        {(waiting) =>
          waiting.length === 0 && (
            <Empty icon={IconShieldCheck} title={words.none}>
              {words.noneYet}
            </Empty>
          )
        }
      </Loaded>
      <WaitingApprovals />
    </Page>
  );
}
