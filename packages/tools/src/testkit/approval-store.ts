import assert from "node:assert/strict";
import type { Approval, ApprovalStore } from "../approval-store.ts";

/** The `test` function of a test runner, such as Vitest. */
type Test = (name: string, run: () => Promise<void>) => void;

const question = (id: string, more: Partial<Approval> = {}): Approval => ({
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
  "gives a question back as it was asked, and what became of it": async (store) => {
    const asked = question("A");
    assert.deepEqual(await store.ask(asked, 5), { outcome: "asked", approval: asked });
    assert.deepEqual(await store.get("A"), asked);
    const decision = { state: "allowed", approver: "feishu:ou_1", grant: "g", decidedAt: 1_500 } as const;
    assert.deepEqual(await store.change("A", "pending", decision), { ...asked, ...decision });
    await store.change("A", "allowed", { state: "used" });
    assert.deepEqual(await store.get("A"), { ...asked, ...decision, state: "used" });
    assert.equal(await store.get("B"), undefined);
  },

  "asks the same once for as long as it is open, however many ask at a time": async (store) => {
    const asked = await Promise.all(["A", "B", "C"].map((id) => store.ask(question(id, { hash: "h" }), 5)));
    assert.deepEqual(
      asked.map((one) => [one.outcome, "approval" in one && one.approval.id]),
      [
        ["asked", "A"],
        ["open", "A"],
        ["open", "A"],
      ],
    );
    const elsewhere = question("D", { hash: "h", sessionKey: "t" });
    assert.equal((await store.ask(elsewhere, 5)).outcome, "asked");
    await store.change("A", "pending", { state: "denied" });
    assert.equal((await store.ask(question("E", { hash: "h" }), 5)).outcome, "asked");
  },

  "keeps no more open in a session than it may, and no id twice": async (store) => {
    for (const id of ["A", "B"]) await store.ask(question(id), 2);
    assert.deepEqual(await store.ask(question("C"), 2), { outcome: "full", open: 2 });
    assert.equal((await store.ask(question("A", { hash: "other", sessionKey: "t" }), 2)).outcome, "taken");
    await store.change("B", "pending", { state: "expired" });
    assert.equal((await store.ask(question("C"), 2)).outcome, "asked");
  },

  "lets one of several decide, and uses an answer once": async (store) => {
    await store.ask(question("A"), 5);
    const decide = (state: "allowed" | "denied") => store.change("A", "pending", { state });
    const decided = await Promise.all([decide("allowed"), decide("denied"), decide("allowed")]);
    assert.deepEqual(
      decided.map((one) => one?.state),
      ["allowed", undefined, undefined],
    );
    const use = () => store.change("A", "allowed", { state: "used" });
    const used = await Promise.all([use(), use()]);
    assert.deepEqual(
      used.map((one) => one?.state),
      ["used", undefined],
    );
    assert.equal(await store.change("B", "pending", { state: "denied" }), undefined);
  },

  "lists the newest first, by their states": async (store) => {
    for (const [index, id] of ["B", "A", "C"].entries())
      await store.ask(question(id, { createdAt: 1_000 + index }), 5);
    await store.change("A", "pending", { state: "denied" });
    const ids = async (filter?: Parameters<ApprovalStore["list"]>[0]) =>
      (await store.list(filter)).map(({ id }) => id);
    assert.deepEqual(await ids(), ["C", "A", "B"]);
    assert.deepEqual(await ids({ states: ["pending", "allowed"] }), ["C", "B"]);
    assert.deepEqual(await ids({ states: ["denied", "expired"] }), ["A"]);
    assert.deepEqual(await ids({ limit: 1 }), ["C"]);
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
