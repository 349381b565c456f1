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
import { approvalsQuery } from "../queries.ts";

/** An approval that was answered here. `gone`: somebody else was first, or its time was over. */
export interface Decided {
  approval: ApprovalInfo;
  outcome: "allowed" | "denied" | "gone";
}

export interface Decisions {
  decided: readonly Decided[];
  /** Why the last answer did not reach the gateway. */
  problem: Problem | undefined;
  decide: (approval: ApprovalInfo, answer: ApprovalDecision["answer"]) => Promise<void>;
  dismiss: (id: string) => void;
}

/**
 * What was decided since it was opened: here, or elsewhere, which shows by a
 * question that was open and is not any more.
 *
 * @param open what waits; undefined until that is known
 */
export function useDecisions(client: Client, open: readonly ApprovalInfo[] | undefined): Decisions {
  const queries = useQueryClient();
  const [decided, setDecided] = useState<readonly Decided[]>([]);
  const [problem, setProblem] = useState<Problem>();
  const before = useRef<readonly ApprovalInfo[]>([]);
  /** Whoever presses twice answers once: the second answer would find that somebody was first. */
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
