import type { Client } from "@signalbox/client";
import type { ReactNode } from "react";
import { useApprovals } from "../approvals/use-approvals.ts";
import { WaitingApprovals } from "../approvals/waiting-approvals.tsx";
import { Loaded, Page } from "../parts/page.tsx";
import { useWords } from "../words/words.tsx";

/** What waits for an owner's word, in every session. */
export function ApprovalsPage({ client }: { client: Client }): ReactNode {
  const words = useWords();
  return (
    <Page title={words.pages.approvals}>
      <Loaded query={useApprovals(client)}>
        {(waiting) => waiting.length === 0 && <p className="help">{words.approvals.none}</p>}
      </Loaded>
      <WaitingApprovals client={client} />
    </Page>
  );
}
