import {
  type ApprovalDecision,
  type ApprovalInfo,
  type Client,
  isClientError,
  type Problem,
} from "@signalbox/client";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { toProblem } from "../parts/problem.tsx";
import { approvalsQuery } from "./queries.ts";

/** An approval that was decided. `gone`: decided elsewhere or expired. */
export interface Decided {
  approval: ApprovalInfo;
  outcome: "allowed" | "denied" | "gone";
}

export interface Decisions {
  decided: readonly Decided[];
  /** Error of the last decision that failed. */
  problem: Problem | undefined;
  decide: (approval: ApprovalInfo, answer: ApprovalDecision["answer"]) => Promise<void>;
  dismiss: (id: string) => void;
}

/**
 * Tracks decisions since the page was opened. An approval that disappears from the pending ones was decided elsewhere.
 *
 * @param open pending approvals; undefined until they are loaded
 * @param onDecided called after a decision of this user
 */
export function useDecisions(
  client: Client,
  open: readonly ApprovalInfo[] | undefined,
  onDecided: (decided: Decided) => void,
): Decisions {
  const queries = useQueryClient();
  const [decided, setDecided] = useState<readonly Decided[]>([]);
  const [problem, setProblem] = useState<Problem>();
  const before = useRef<readonly ApprovalInfo[]>([]);
  /** Ignores a second click, which would report that the approval was decided elsewhere. */
  const answering = useRef(new Set<string>());

  useEffect(() => {
    if (open === undefined) return;
    const left = before.current.filter(({ id }) => !open.some((each) => each.id === id));
    before.current = open;
    setDecided((known) => {
      const news = left.filter(({ id }) => !known.some(({ approval }) => approval.id === id));
      return news.length === 0
        ? known
        : [...known, ...news.map((approval): Decided => ({ approval, outcome: "gone" }))];
    });
  }, [open]);

  const decide: Decisions["decide"] = async (approval, answer) => {
    if (answering.current.has(approval.id)) return;
    answering.current.add(approval.id);
    try {
      const outcome = await outcomeOf(client, approval.id, answer);
      setProblem(undefined);
      setDecided((before) => [
        ...before.filter((each) => each.approval.id !== approval.id),
        { approval, outcome },
      ]);
      onDecided({ approval, outcome });
    } catch (error) {
      setProblem(toProblem(error));
    } finally {
      answering.current.delete(approval.id);
    }
    await queries.invalidateQueries(approvalsQuery(client));
  };
  const dismiss = (id: string) => setDecided((before) => before.filter(({ approval }) => approval.id !== id));
  return { decided, problem, decide, dismiss };
}

async function outcomeOf(
  client: Client,
  id: string,
  answer: ApprovalDecision["answer"],
): Promise<Decided["outcome"]> {
  try {
    await client.decideApproval(id, answer);
    return answer === "deny" ? "denied" : "allowed";
  } catch (error) {
    if (isClientError(error) && error.code === "not_found") return "gone";
    throw error;
  }
}
