import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EMPTY_HEAD, linkHash } from "../../src/audit/chain.ts";
import { type AuditEntry, verifyChain } from "../../src/audit/index.ts";
import { auditEvent } from "../../src/testkit/audit.ts";
import { testStore } from "../support.ts";

/** A chain of `length` entries. */
function chainOf(length: number) {
  const entries: AuditEntry[] = [];
  let head = EMPTY_HEAD;
  for (let seq = 1; seq <= length; seq++) {
    const event = auditEvent(seq);
    const hash = linkHash(head, event);
    entries.push({ ...event, seq, hash });
    head = { count: seq, hash };
  }
  return { entries, head };
}

/** A log with these entries, which may have been tampered with; `head` is the stored head. */
function logOf(entries: readonly AuditEntry[], head: { count: number; hash: string }) {
  return {
    head: async () => head,
    list: async ({ after = 0 } = {}) => entries.filter(({ seq }) => seq > after).slice(0, 7),
  };
}

/** Changes that somebody might make to the entry at `at`, or from there on. */
const tamperings: Readonly<Record<string, (entries: readonly AuditEntry[], at: number) => AuditEntry[]>> = {
  "a changed subject": (entries, at) => changed(entries, at, { subject: "another call" }),
  "a changed time": (entries, at) => changed(entries, at, { at: -1 }),
  "removed details": (entries, at) => changed(entries, at, { details: {} }),
  "a removed entry": (entries, at) => entries.toSpliced(at, 1),
  "a removed entry, the rest renumbered": (entries, at) => renumbered(entries.toSpliced(at, 1)),
  "an entry moved to the end": (entries, at) =>
    renumbered([...entries.toSpliced(at, 1), ...entries.slice(at, at + 1)]),
  "an inserted entry": (entries, at) => renumbered(entries.toSpliced(at, 0, ...entries.slice(at, at + 1))),
  "a missing end": (entries, at) => entries.slice(0, at),
};

function changed(entries: readonly AuditEntry[], at: number, change: Partial<AuditEntry>): AuditEntry[] {
  return entries.map((entry, index) => (index === at ? { ...entry, ...change } : entry));
}

function renumbered(entries: readonly AuditEntry[]): AuditEntry[] {
  return entries.map((entry, index) => ({ ...entry, seq: index + 1 }));
}

describe("verifyChain", () => {
  it.each(Object.entries(tamperings))("finds %s", async (_, tamper) => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 2, max: 20 }), fc.nat(), async (length, where) => {
        const { entries, head } = chainOf(length);
        expect((await verifyChain(logOf(entries, head))).intact).toBe(true);
        // The last entry is excluded: moving it to the end changes nothing.
        const verdict = await verifyChain(logOf(tamper(entries, where % (length - 1)), head));
        expect(verdict.intact).toBe(false);
      }),
      { numRuns: 50 },
    );
  });

  it("finds a truncated log with a forged head by a head noted elsewhere", async () => {
    const { entries, head } = chainOf(10);
    const cut = entries.slice(0, 8);
    const forged = { count: 8, hash: cut.at(-1)?.hash ?? "" };
    expect((await verifyChain(logOf(cut, forged))).intact).toBe(true);
    expect(await verifyChain(logOf(cut, forged), [head])).toMatchObject({ intact: false, seq: 9 });
  });

  it("finds a rewritten chain by a head noted elsewhere", async () => {
    const { entries, head } = chainOf(10);
    const rewritten = entries.slice(0, 4);
    for (const entry of entries.slice(4)) {
      const before = { count: rewritten.length, hash: rewritten.at(-1)?.hash ?? "" };
      const event = { ...entry, actor: "somebody else" };
      rewritten.push({ ...event, hash: linkHash(before, event) });
    }
    const forged = { count: 10, hash: rewritten.at(-1)?.hash ?? "" };
    expect((await verifyChain(logOf(rewritten, forged))).intact).toBe(true);
    expect(await verifyChain(logOf(rewritten, forged), [head])).toMatchObject({ intact: false });
    const noted = { count: 7, hash: entries[6]?.hash ?? "" };
    expect(await verifyChain(logOf(rewritten, forged), [noted])).toMatchObject({ intact: false, seq: 7 });
  });

  it("accepts entries that are appended while it runs", async () => {
    const { entries, head } = chainOf(3);
    const log = (await testStore()).store.audit;
    for (const entry of entries) await log.append(entry);
    const growing = {
      head: log.head,
      async list(query?: Parameters<typeof log.list>[0]) {
        await log.append(auditEvent(99));
        return log.list(query);
      },
    };
    expect(await verifyChain(growing, [head])).toMatchObject({ intact: true });
  });
});
