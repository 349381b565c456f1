import { verifyChain } from "../audit/verify.ts";
import type { AuditEvent, AuditKind, AuditLog } from "../types/audit.ts";
import { type Checks, expectEqual } from "./under-test.ts";

export function auditEvent(number: number, kind: AuditKind = "tool"): AuditEvent {
  return {
    at: number,
    kind,
    action: "allowed",
    actor: "policy",
    subject: `call ${number}`,
    details: { number },
  };
}

async function expectIntact(audit: AuditLog): Promise<void> {
  const verdict = await verifyChain(audit);
  expectEqual(verdict, { intact: true, head: await audit.head() }, "The chain does not verify.");
}

export const auditChecks: Checks = {
  "numbers and links entries in the order of the calls": async ({ store: { audit } }) => {
    await Promise.all([1, 2, 3].map((number) => audit.append(auditEvent(number))));
    const entries = await audit.list();
    expectEqual(
      entries.map(({ seq, subject, details }) => [seq, subject, details]),
      [1, 2, 3].map((number) => [number, `call ${number}`, { number }]),
      "Entries are not numbered in the order of the calls.",
    );
    expectEqual(new Set(entries.map(({ hash }) => hash)).size, 3, "Two entries have the same hash.");
    const head = { count: 3, hash: entries.at(-1)?.hash };
    expectEqual(await audit.head(), head, "The head is not the last entry.");
    await expectIntact(audit);
  },

  "is intact when it is empty": async ({ store: { audit } }) => {
    expectEqual(await audit.list(), [], "An empty log has entries.");
    expectEqual(await audit.head(), { count: 0, hash: "" }, "The head of an empty log is wrong.");
    await expectIntact(audit);
  },

  "lists entries by number and kind, and the latest ones": async ({ store: { audit } }) => {
    for (let number = 1; number <= 6; number++)
      await audit.append(auditEvent(number, number % 2 === 0 ? "token" : "tool"));
    const seqs = async (found: ReturnType<AuditLog["list"]>) => (await found).map(({ seq }) => seq);
    expectEqual(await seqs(audit.list({ after: 2, limit: 2 })), [3, 4], "`after` or `limit` is ignored.");
    expectEqual(await seqs(audit.list({ kind: "token" })), [2, 4, 6], "`kind` is ignored.");
    expectEqual(await seqs(audit.latest(2)), [5, 6], "The latest two entries are wrong.");
    expectEqual(await seqs(audit.latest(10)), [1, 2, 3, 4, 5, 6], "The latest ten entries are wrong.");
  },

  "stays intact with lone surrogates and null characters": async ({ store: { audit } }) => {
    const half = "\u{1F600}".slice(0, 1);
    await audit.append({ ...auditEvent(1), subject: `call ${half}`, actor: half, details: { text: half } });
    await audit.append({ ...auditEvent(2), subject: "a\0b" });
    await expectIntact(audit);
  },

  "keeps events as they were, with and without details": async ({ store: { audit } }) => {
    const { details: _, ...plain } = auditEvent(1);
    await audit.append(plain);
    const details = { text: "\u202E 你好", yes: true, count: 1.5 };
    await audit.append({ ...plain, details });
    const [first, second] = await audit.list();
    expectEqual(first?.details, undefined, "An event without details got some.");
    expectEqual(second?.details, details, "Details were changed by being stored.");
    expectEqual(first?.hash === second?.hash, false, "The hash does not cover the details.");
    await expectIntact(audit);
  },
};
