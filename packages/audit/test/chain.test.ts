import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type AuditRecord, createMemoryAudit, linkHash, verifyChain } from "../src/index.ts";
import { auditConformance, entryOf } from "../src/testkit/conformance.ts";

describe("a log in memory", () => {
  auditConformance(it, async () => createMemoryAudit());
});

async function chainOf(length: number) {
  const log = createMemoryAudit();
  for (let number = 1; number <= length; number++) await log.append(entryOf(number));
  return { records: [...(await log.list({ limit: length }))], head: await log.head() };
}

/** A log whose rows somebody has laid hands on; the head is what stands beside them. */
function logOf(records: readonly AuditRecord[], head: { count: number; hash: string }) {
  return {
    head: async () => head,
    list: async ({ after = 0 } = {}) => records.filter(({ seq }) => seq > after).slice(0, 7),
  };
}

/** What somebody may do about the record at a place, or from there on. */
const tamperings: Readonly<Record<string, (records: readonly AuditRecord[], at: number) => AuditRecord[]>> = {
  "changed subject": (records, at) => changed(records, at, { subject: "another call" }),
  "changed time": (records, at) => changed(records, at, { at: -1 }),
  "removed detail": (records, at) => changed(records, at, { details: {} }),
  removed: (records, at) => records.toSpliced(at, 1),
  "removed and renumbered": (records, at) => renumbered(records.toSpliced(at, 1)),
  "moved to the end": (records, at) =>
    renumbered([...records.toSpliced(at, 1), ...records.slice(at, at + 1)]),
  inserted: (records, at) => renumbered(records.toSpliced(at, 0, ...records.slice(at, at + 1))),
  "tail cut off": (records, at) => records.slice(0, at),
};

function changed(records: readonly AuditRecord[], at: number, change: Partial<AuditRecord>): AuditRecord[] {
  return records.map((record, index) => (index === at ? { ...record, ...change } : record));
}

function renumbered(records: readonly AuditRecord[]): AuditRecord[] {
  return records.map((record, index) => ({ ...record, seq: index + 1 }));
}

describe("verifyChain", () => {
  it.each(Object.entries(tamperings))("finds a record that was %s", async (_, tamper) => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 2, max: 20 }), fc.nat(), async (length, where) => {
        const { records, head } = await chainOf(length);
        expect((await verifyChain(logOf(records, head))).intact).toBe(true);
        // The last one cannot be moved to where it is.
        const verdict = await verifyChain(logOf(tamper(records, where % (length - 1)), head));
        expect(verdict.intact).toBe(false);
      }),
      { numRuns: 50 },
    );
  });

  it("finds a tail that was cut off together with the head beside it, by a head that was noted elsewhere", async () => {
    const { records, head } = await chainOf(10);
    const cut = records.slice(0, 8);
    const forged = { count: 8, hash: cut.at(-1)?.hash ?? "" };
    expect((await verifyChain(logOf(cut, forged))).intact).toBe(true);
    expect(await verifyChain(logOf(cut, forged), [head])).toMatchObject({ intact: false, seq: 9 });
  });

  it("finds a chain that was written anew from a record on", async () => {
    const { records, head } = await chainOf(10);
    const anew = records.slice(0, 4);
    for (const record of records.slice(4)) {
      const before = { count: anew.length, hash: anew.at(-1)?.hash ?? "" };
      const changed = { ...record, actor: "somebody else" };
      anew.push({ ...changed, hash: linkHash(before, changed) });
    }
    const forged = { count: 10, hash: anew.at(-1)?.hash ?? "" };
    expect((await verifyChain(logOf(anew, forged))).intact).toBe(true);
    expect(await verifyChain(logOf(anew, forged), [head])).toMatchObject({ intact: false });
    const noted = { count: 7, hash: records[6]?.hash ?? "" };
    expect(await verifyChain(logOf(anew, forged), [noted])).toMatchObject({ intact: false, seq: 7 });
  });

  it("goes by what there was when it began, whatever is appended meanwhile", async () => {
    const { records, head } = await chainOf(3);
    const log = createMemoryAudit();
    for (const record of records) await log.append(record);
    const growing = {
      head: log.head,
      async list(query?: Parameters<typeof log.list>[0]) {
        await log.append(entryOf(99));
        return log.list(query);
      },
    };
    expect(await verifyChain(growing, [head])).toMatchObject({ intact: true });
  });
});
