import type { ApprovalBody } from "../types/common.ts";
import { type Checks, expectEqual } from "./under-test.ts";

/** Returns an approval request with fields that only the host interprets. */
const question = (id: string, more: Partial<ApprovalBody> = {}) => ({
  id,
  sessionKey: "s",
  hash: `hash of ${id}`,
  state: "pending" as const,
  createdAt: 1_000,
  subject: { action: "make\n", env: { PATH: "/bin" } },
  ...more,
});

export const approvalChecks: Checks = {
  "returns a question as it was asked, with its decision": async ({ store: { approvals } }) => {
    const asked = question("A");
    const outcome = await approvals.ask(asked, 5);
    expectEqual(outcome, { outcome: "asked", approval: asked }, "A new question was not asked.");
    expectEqual(await approvals.get("A"), asked, "A question was changed by being stored.");
    const decision = { state: "allowed", approver: "feishu:ou_1", grant: "g", decidedAt: 1_500 } as const;
    const decided = await approvals.change("A", "pending", decision);
    expectEqual(decided, { ...asked, ...decision }, "The decision is not part of the question.");
    await approvals.change("A", "allowed", { state: "used" });
    const used = { ...asked, ...decision, state: "used" };
    expectEqual(await approvals.get("A"), used, "A later change removed the decision.");
    expectEqual(await approvals.get("B"), undefined, "An unknown id returned a question.");
  },

  "asks the same question once while it is open": async ({ store: { approvals } }) => {
    const asked = await Promise.all(
      ["A", "B", "C"].map((id) => approvals.ask(question(id, { hash: "h" }), 5)),
    );
    const outcomes = asked.map((one) => [one.outcome, "approval" in one && one.approval.id]);
    const expected = [
      ["asked", "A"],
      ["open", "A"],
      ["open", "A"],
    ];
    expectEqual(outcomes, expected, "Concurrent calls asked the same question more than once.");
    const elsewhere = await approvals.ask(question("D", { hash: "h", sessionKey: "t" }), 5);
    expectEqual(elsewhere.outcome, "asked", "A question of another session counts as the same.");
    await approvals.change("A", "pending", { state: "denied" });
    const again = await approvals.ask(question("E", { hash: "h" }), 5);
    expectEqual(again.outcome, "asked", "A decided question cannot be asked again.");
  },

  "limits the open questions of a session, and rejects an id in use": async ({ store: { approvals } }) => {
    for (const id of ["A", "B"]) await approvals.ask(question(id), 2);
    const full = await approvals.ask(question("C"), 2);
    expectEqual(full, { outcome: "full", open: 2 }, "A session has more open questions than allowed.");
    const taken = await approvals.ask(question("A", { hash: "other", sessionKey: "t" }), 2);
    expectEqual(taken.outcome, "taken", "An id was used twice.");
    await approvals.change("B", "pending", { state: "expired" });
    expectEqual(
      (await approvals.ask(question("C"), 2)).outcome,
      "asked",
      "An expired question still counts.",
    );
  },

  "lets one of several decisions win, and uses an answer once": async ({ store: { approvals } }) => {
    await approvals.ask(question("A"), 5);
    const decide = (state: "allowed" | "denied") => approvals.change("A", "pending", { state });
    const decided = await Promise.all([decide("allowed"), decide("denied"), decide("allowed")]);
    const states = decided.map((one) => one?.state);
    expectEqual(states, ["allowed", undefined, undefined], "More than one decision was accepted.");
    const use = () => approvals.change("A", "allowed", { state: "used" });
    const used = (await Promise.all([use(), use()])).map((one) => one?.state);
    expectEqual(used, ["used", undefined], "An answer was used twice.");
    const unknown = await approvals.change("B", "pending", { state: "denied" });
    expectEqual(unknown, undefined, "A question that does not exist was changed.");
  },

  "lists questions newest first, by state": async ({ store: { approvals } }) => {
    for (const [index, id] of ["B", "A", "C"].entries())
      await approvals.ask(question(id, { createdAt: 1_000 + index }), 5);
    await approvals.change("A", "pending", { state: "denied" });
    const ids = async (filter?: Parameters<typeof approvals.list>[0]) =>
      (await approvals.list(filter)).map(({ id }) => id);
    expectEqual(await ids(), ["C", "A", "B"], "All questions are not listed newest first.");
    const open = await ids({ states: ["pending", "allowed"] });
    expectEqual(open, ["C", "B"], "The open questions are wrong.");
    const closed = await ids({ states: ["denied", "expired"] });
    expectEqual(closed, ["A"], "The closed questions are wrong.");
    expectEqual(await ids({ limit: 1 }), ["C"], "The limit is ignored.");
  },
};
