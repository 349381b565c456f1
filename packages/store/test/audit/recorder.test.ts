import { expect, it, vi } from "vitest";
import type { AuditHead, Witness } from "../../src/audit/index.ts";
import { createRecorder, matchesWitness } from "../../src/audit/recorder.ts";
import { testStore } from "../support.ts";

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
const options = { redact: (text: string) => text, onProblem: expect.unreachable, now: () => 1 };

it("writes the head to the witness five seconds after the first entry, and on close", async () => {
  const { audit: log } = (await testStore()).store;
  const { audit: otherLog } = (await testStore()).store;
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const witness = memoryWitness();
    const recorder = createRecorder({ ...options, log, witness });
    const noted = [recorder.note(entry), recorder.note(entry)];
    await vi.advanceTimersByTimeAsync(4_999);
    await Promise.all(noted);
    expect(witness.noted()).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    expect(witness.noted()?.count).toBe(2);
    void recorder.note(entry);
    const closed = recorder.close();
    await vi.advanceTimersByTimeAsync(1_000);
    await closed;
    expect(witness.noted()?.count).toBe(3);
    expect(await matchesWitness(log, witness)).toBe(true);
    expect(await matchesWitness(otherLog, witness)).toBe(false);
  } finally {
    vi.useRealTimers();
  }
});

it("redacts a subject before it cuts it to 500 characters", async () => {
  const { audit: log } = (await testStore()).store;
  const redact = (text: string): string => text.replaceAll("hunter2", "***");
  const recorder = createRecorder({ ...options, log, witness: memoryWitness(), redact });
  await recorder.note({ ...entry, subject: `${"x".repeat(496)}hunter2` });
  await recorder.close();
  expect((await log.list({ limit: 1 }))[0]?.subject).toBe(`${"x".repeat(496)}***`);
});

it("reports failures to append an entry or to write the head, and does not reject", async () => {
  const problems: string[] = [];
  const { audit } = (await testStore()).store;
  const recorder = createRecorder({
    ...options,
    log: { ...audit, append: async () => Promise.reject(new Error("the disk is full")) },
    witness: {
      read: () => undefined,
      write: () => {
        throw new Error("no");
      },
    },
    onProblem: (problem, error) =>
      problems.push(`${problem}: ${error instanceof Error ? error.message : error}`),
  });
  await recorder.note(entry);
  await recorder.close();
  expect(problems).toEqual(["entry: the disk is full", "head: no"]);
});

it("does not match a witness that cannot be read", async () => {
  const read = () => {
    throw new Error("damaged");
  };
  expect(await matchesWitness((await testStore()).store.audit, { read })).toBe(false);
});
