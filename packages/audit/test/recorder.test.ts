import { expect, it, vi } from "vitest";
import { type AuditHead, createMemoryAudit, createRecorder, holdsNoted, type Witness } from "../src/index.ts";

function memoryWitness(): Witness & { noted(): AuditHead | undefined } {
  let noted: AuditHead | undefined;
  return {
    noted: () => noted,
    read: () => noted,
    write(head) {
      noted = head;
    },
  };
}

const entry = { kind: "approval", action: "allowed", actor: "owner", subject: "exec: ls" } as const;

it("notes the end of the chain a while after an entry, for all that came meanwhile", async () => {
  vi.useFakeTimers();
  try {
    const log = createMemoryAudit();
    const witness = memoryWitness();
    const recorder = createRecorder({ log, witness, onProblem: expect.unreachable, now: () => 1 });
    await recorder.note(entry);
    await recorder.note(entry);
    expect(witness.noted()).toBeUndefined();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(witness.noted()?.count).toBe(2);
    await recorder.note(entry);
    await recorder.close();
    expect(witness.noted()?.count).toBe(3);
    expect(await holdsNoted(log, witness)).toBe(true);
    expect(await holdsNoted(createMemoryAudit(), witness)).toBe(false);
  } finally {
    vi.useRealTimers();
  }
});

it("keeps secrets and endless subjects out, also a secret that would be cut in two", async () => {
  const log = createMemoryAudit();
  const redact = (text: string): string => text.replaceAll("hunter2", "***");
  const recorder = createRecorder({
    log,
    witness: memoryWitness(),
    redact,
    now: () => 1,
    onProblem: expect.unreachable,
  });
  await recorder.note({ ...entry, subject: `${"x".repeat(496)}hunter2` });
  await recorder.close();
  expect((await log.list({ limit: 1 }))[0]?.subject).toBe(`${"x".repeat(496)}***`);
});

it("tells what could not be put on record, and holds nobody up", async () => {
  const problems: string[] = [];
  const recorder = createRecorder({
    log: { ...createMemoryAudit(), append: async () => Promise.reject(new Error("the disk is full")) },
    witness: {
      read: () => undefined,
      write: () => {
        throw new Error("no");
      },
    },
    onProblem: (problem, error) =>
      problems.push(`${problem}: ${error instanceof Error ? error.message : error}`),
    now: () => 1,
  });
  await recorder.note(entry);
  await recorder.close();
  expect(problems).toEqual(["entry: the disk is full", "head: no"]);
});

it("does not believe a witness that cannot be read", async () => {
  const read = () => {
    throw new Error("damaged");
  };
  expect(await holdsNoted(createMemoryAudit(), { read })).toBe(false);
});
