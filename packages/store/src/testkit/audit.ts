import { deepEqual, equal, notEqual } from "node:assert/strict";
import { verifyChain } from "../audit/verify.ts";
import type { AuditEvent, AuditKind, AuditLog } from "../types/audit.ts";
import type { Test } from "./under-test.ts";

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

/** What every audit log has to keep. `open` gives a fresh, empty one. */
export function auditConformance(test: Test, open: () => Promise<AuditLog>): void {
  const check = (name: string, run: (log: AuditLog) => Promise<void>): void =>
    test(name, async () => run(await open()));

  check("numbers and links entries in the order of the calls", async (log) => {
    await Promise.all([1, 2, 3].map((number) => log.append(auditEvent(number))));
    const entries = await log.list();
    deepEqual(
      entries.map(({ seq, subject, details }) => [seq, subject, details]),
      [1, 2, 3].map((number) => [number, `call ${number}`, { number }]),
    );
    equal(new Set(entries.map(({ hash }) => hash)).size, 3);
    deepEqual(await log.head(), { count: 3, hash: entries.at(-1)?.hash });
    deepEqual(await verifyChain(log), { intact: true, head: await log.head() });
  });
  check("is intact when it is empty", async (log) => {
    deepEqual(await log.list(), []);
    deepEqual(await verifyChain(log), { intact: true, head: { count: 0, hash: "" } });
  });
  check("lists by number and by kind, and the latest", async (log) => {
    for (let number = 1; number <= 6; number++)
      await log.append(auditEvent(number, number % 2 === 0 ? "token" : "tool"));
    const seqs = async (found: ReturnType<AuditLog["list"]>) => (await found).map(({ seq }) => seq);
    deepEqual(await seqs(log.list({ after: 2, limit: 2 })), [3, 4]);
    deepEqual(await seqs(log.list({ kind: "token" })), [2, 4, 6]);
    deepEqual(await seqs(log.latest(2)), [5, 6]);
    deepEqual(await seqs(log.latest(10)), [1, 2, 3, 4, 5, 6]);
  });
  check("is intact with halves of characters in it, which no file keeps", async (log) => {
    const half = "\u{1F600}".slice(0, 1);
    await log.append({ ...auditEvent(1), subject: `call ${half}`, actor: half, details: { text: half } });
    await log.append({ ...auditEvent(2), subject: "a\0b" });
    deepEqual(await verifyChain(log), { intact: true, head: await log.head() });
  });
  check("keeps entries as they were given, with and without details", async (log) => {
    const { details: _, ...plain } = auditEvent(1);
    await log.append(plain);
    await log.append({ ...plain, details: { text: "\u202E 你好", yes: true, count: 1.5 } });
    const [first, second] = await log.list();
    equal(first?.details, undefined);
    deepEqual(second?.details, { text: "\u202E 你好", yes: true, count: 1.5 });
    notEqual(first?.hash, second?.hash);
    equal((await verifyChain(log)).intact, true);
  });
}
