import assert from "node:assert/strict";
import type { Approval, ApprovalStore } from "../approval-store.ts";

/** The `test` function of a test runner, such as Vitest. */
type Test = (name: string, run: () => Promise<void>) => void;

const createApproval = (id: string, more: Partial<Approval> = {}): Approval => ({
  id,
  tool: "exec",
  agentId: "coder",
  sessionKey: "s",
  reason: "why",
  hash: `hash of ${id}`,
  subject: { action: "make\n", cwd: "/srv/w", env: { PATH: "/bin" }, binary: "/usr/bin/bash" },
  taint: [{ source: "web", detail: "https://example.org" }],
  state: "pending",
  createdAt: 1_000,
  expiresAt: 2_000,
  ...more,
});

const CHECKS: Readonly<Record<string, (store: ApprovalStore) => Promise<void>>> = {
  "returns a request unchanged, with its decision": async (store) => {
    const request = createApproval("A");
    assert.deepEqual(
      await store.ask(request, 5),
      { outcome: "asked", approval: request },
      "ask() must return a new request unchanged",
    );
    assert.deepEqual(await store.get("A"), request, "get() must return the stored request");
    const decision = { state: "allowed", approver: "feishu:ou_1", grant: "g", decidedAt: 1_500 } as const;
    assert.deepEqual(
      await store.change("A", "pending", decision),
      { ...request, ...decision },
      "change() must return the request with all changed members",
    );
    await store.change("A", "allowed", { state: "used" });
    assert.deepEqual(
      await store.get("A"),
      { ...request, ...decision, state: "used" },
      "change() must keep the members that the change does not mention",
    );
    assert.equal(await store.get("B"), undefined, "get() must return undefined for an unknown id");
  },

  "stores concurrent identical requests of a session once": async (store) => {
    const results = await Promise.all(
      ["A", "B", "C"].map((id) => store.ask(createApproval(id, { hash: "h" }), 5)),
    );
    assert.deepEqual(
      results.map((result) => [result.outcome, "approval" in result && result.approval.id]),
      [
        ["asked", "A"],
        ["open", "A"],
        ["open", "A"],
      ],
      "ask() must store the first of several identical requests and return it for the others",
    );
    const elsewhere = createApproval("D", { hash: "h", sessionKey: "t" });
    assert.equal(
      (await store.ask(elsewhere, 5)).outcome,
      "asked",
      "the same request in another session is a new request",
    );
    await store.change("A", "pending", { state: "denied" });
    assert.equal(
      (await store.ask(createApproval("E", { hash: "h" }), 5)).outcome,
      "asked",
      "the same request is a new request after the first one was decided",
    );
  },

  "limits the pending requests of a session, and rejects an id that is in use": async (store) => {
    for (const id of ["A", "B"]) await store.ask(createApproval(id), 2);
    assert.deepEqual(
      await store.ask(createApproval("C"), 2),
      { outcome: "full", open: 2 },
      "ask() must refuse a request above the limit and return the number of pending ones",
    );
    assert.equal(
      (await store.ask(createApproval("A", { hash: "other", sessionKey: "t" }), 2)).outcome,
      "taken",
      "ask() must not replace a request with the same id",
    );
    await store.change("B", "pending", { state: "expired" });
    assert.equal(
      (await store.ask(createApproval("C"), 2)).outcome,
      "asked",
      "an expired request must not count as pending",
    );
  },

  "applies one of several concurrent changes": async (store) => {
    await store.ask(createApproval("A"), 5);
    const decide = (state: "allowed" | "denied") => store.change("A", "pending", { state });
    const decided = await Promise.all([decide("allowed"), decide("denied"), decide("allowed")]);
    assert.deepEqual(
      decided.map((approval) => approval?.state),
      ["allowed", undefined, undefined],
      "change() must apply only the first decision and return undefined for the others",
    );
    const use = () => store.change("A", "allowed", { state: "used" });
    const used = await Promise.all([use(), use()]);
    assert.deepEqual(
      used.map((approval) => approval?.state),
      ["used", undefined],
      "an approval must be used only once",
    );
    assert.equal(
      await store.change("B", "pending", { state: "denied" }),
      undefined,
      "change() must return undefined for an unknown id",
    );
  },

  "lists the newest approvals first, by state": async (store) => {
    for (const [index, id] of ["B", "A", "C"].entries())
      await store.ask(createApproval(id, { createdAt: 1_000 + index }), 5);
    await store.change("A", "pending", { state: "denied" });
    const ids = async (filter?: Parameters<ApprovalStore["list"]>[0]) =>
      (await store.list(filter)).map(({ id }) => id);
    assert.deepEqual(await ids(), ["C", "A", "B"], "list() must return all approvals, the newest first");
    assert.deepEqual(
      await ids({ states: ["pending", "allowed"] }),
      ["C", "B"],
      "list() must return only approvals in the given states",
    );
    assert.deepEqual(
      await ids({ states: ["denied", "expired"] }),
      ["A"],
      "list() must return only approvals in the given states",
    );
    assert.deepEqual(
      await ids({ limit: 1 }),
      ["C"],
      "list() must return the newest approvals up to the limit",
    );
  },
};

/**
 * Registers the conformance tests of an {@link ApprovalStore}.
 *
 * @param open returns a new, empty store
 */
export function approvalStoreConformance(test: Test, open: () => Promise<ApprovalStore>): void {
  for (const [name, check] of Object.entries(CHECKS))
    test(`approvals: ${name}`, async () => check(await open()));
}
