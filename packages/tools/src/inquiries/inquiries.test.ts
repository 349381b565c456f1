import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { memoryKeyValues } from "../../test/key-values.ts";
import { createInquiries } from "./inquiries.ts";
import { inquiryChoices, inquiryEnding, inquiryText, readAnswer } from "./inquiry.ts";

const ASKED = {
  call: "run-1 call-1",
  sessionKey: "room",
  speaker: "plain:anna",
  role: "system",
  question: "Tea or coffee?",
  options: ["Tea", "Coffee"],
  ttlMs: 60_000,
} as const;
const tea = { words: "1", speaker: "plain:anna", role: "owner", messageId: "m1" } as const;
const never = new AbortController().signal;

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }));
afterEach(() => void vi.useRealTimers());

const open = (kv = memoryKeyValues()) => ({ kv, inquiries: createInquiries({ kv, now: Date.now }) });

describe("inquiries", () => {
  it("end with the first answer, which whoever waits is given", async () => {
    const { inquiries } = open();
    const { id } = await inquiries.open(ASKED);
    const ended = inquiries.wait(id, never);
    expect(inquiries.asked("room", "plain:anna", false)?.id).toBe(id);
    expect(await inquiries.answer(id, tea)).toMatchObject({ ok: true });
    expect(await ended).toEqual({ kind: "answered", text: "Tea", messageId: "m1" });
    expect(inquiries.asked("room", "plain:anna", false)).toBeUndefined();
    expect(await inquiries.answer(id, { ...tea, words: "2", messageId: "m2" })).toEqual({
      ok: false,
      why: "over",
    });
  });

  it("are kept for a day after their time, and no longer", async () => {
    const { kv, inquiries } = open();
    const { id } = await inquiries.open(ASKED);
    await inquiries.answer(id, tea);
    const day = 24 * 60 * 60_000;
    vi.advanceTimersByTime(day);
    await inquiries.open({ ...ASKED, call: "run-2 call-1" });
    expect(inquiries.answeredBy("m1")?.id).toBe(id);
    vi.advanceTimersByTime(ASKED.ttlMs);
    const { id: last } = await inquiries.open({ ...ASKED, call: "run-3 call-1" });
    expect(inquiries.answeredBy("m1")).toBeUndefined();
    expect((await kv.list("inquiries")).map(({ key }) => key)).not.toContain(id);
    expect((await kv.list("inquiries")).map(({ key }) => key)).toContain(last);
  });

  it("are answered by whom they are put to, and by nobody else", async () => {
    const { inquiries } = open();
    const { id } = await inquiries.open(ASKED);
    expect(inquiries.asked("room", "plain:ben", true)).toBeUndefined();
    expect(inquiries.asked("elsewhere", "plain:anna", true)).toBeUndefined();
    expect(await inquiries.answer(id, { ...tea, speaker: "plain:ben" })).toEqual({
      ok: false,
      why: "somebody-else",
    });
    expect(await inquiries.answer(id, { ...tea, role: "guest" })).toEqual({
      ok: false,
      why: "somebody-else",
    });
    expect(await inquiries.answer("NOBODY22", tea)).toEqual({ ok: false, why: "unknown" });
  });

  it("are the same in the next process, with the time they had and the answer they have", async () => {
    const { kv, inquiries } = open();
    const first = await inquiries.open(ASKED);
    vi.advanceTimersByTime(20_000);
    const next = open(kv).inquiries;
    await next.load();
    expect(next.asked("room", "plain:anna", true)).toEqual(first);
    expect(await next.open(ASKED)).toEqual(first);
    expect(await next.answer(first.id, tea)).toMatchObject({ ok: true });
    const last = open(kv).inquiries;
    await last.load();
    expect(last.answeredBy("m1")?.id).toBe(first.id);
    // The message may come again, where its process died before it had its own end.
    expect(await last.answer(first.id, tea)).toMatchObject({ ok: true });
    expect(await last.wait(first.id, never)).toMatchObject({ text: "Tea" });
  });

  it("hear of an answer that another process took", async () => {
    const { kv, inquiries } = open();
    const { id } = await inquiries.open(ASKED);
    const ended = inquiries.wait(id, never);
    await vi.advanceTimersByTimeAsync(100);
    await open(kv).inquiries.answer(id, tea);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await ended).toMatchObject({ kind: "answered", text: "Tea" });
  });

  it("expire, and take no answer from then on, whatever the clock says later", async () => {
    const { kv, inquiries } = open();
    const { id } = await inquiries.open(ASKED);
    const ended = inquiries.wait(id, never);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await ended).toEqual({ kind: "expired" });
    vi.setSystemTime(1_000_000);
    expect(await inquiries.answer(id, tea)).toEqual({ ok: false, why: "over" });
    expect(await open(kv).inquiries.wait(id, never)).toEqual({ kind: "expired" });
  });

  it("wait no longer than they are waited for, and stay open for the next process", async () => {
    const { inquiries } = open();
    const { id } = await inquiries.open(ASKED);
    const stopping = new AbortController();
    const ended = inquiries.wait(id, stopping.signal);
    await vi.advanceTimersByTimeAsync(0);
    stopping.abort();
    expect(await ended).toBeUndefined();
    expect(inquiries.asked("room", "plain:anna", true)?.id).toBe(id);
    expect(inquiries.asked("room", "plain:anna", false)).toBeUndefined();
    await inquiries.close(id, "stopped");
    expect(await inquiries.wait(id, never)).toEqual({ kind: "stopped" });
  });

  it("are answered only once that is kept", async () => {
    const kv = memoryKeyValues();
    const { inquiries } = open(kv);
    const { id } = await inquiries.open(ASKED);
    vi.spyOn(kv, "set").mockRejectedValueOnce(new Error("the disk is full"));
    await expect(inquiries.answer(id, tea)).rejects.toThrow("the disk is full");
    expect(inquiries.asked("room", "plain:anna", true)?.id).toBe(id);
    expect(await inquiries.answer(id, tea)).toMatchObject({ ok: true });
  });

  it("end once where two answers come at the same moment", async () => {
    const { kv, inquiries } = open();
    const { id } = await inquiries.open(ASKED);
    const ended = inquiries.wait(id, never);
    const answers = ["m1", "m2"].map((messageId) => inquiries.answer(id, { ...tea, messageId }));
    expect(await Promise.all(answers)).toMatchObject([{ ok: true }, { ok: false, why: "over" }]);
    expect(await ended).toMatchObject({ messageId: "m1" });
    expect(await open(kv).inquiries.wait(id, never)).toMatchObject({ messageId: "m1" });
  });

  it("end once where an answer comes while they are being closed", async () => {
    const { kv, inquiries } = open();
    const { id } = await inquiries.open(ASKED);
    const ended = inquiries.wait(id, never);
    const [answered] = await Promise.all([inquiries.answer(id, tea), inquiries.close(id, "stopped")]);
    expect(answered).toMatchObject({ ok: false, why: "over" });
    expect(await ended).toEqual({ kind: "stopped" });
    expect(await open(kv).inquiries.wait(id, never)).toEqual({ kind: "stopped" });
  });

  it("take the second of two answers where the first could not be kept", async () => {
    const { kv, inquiries } = open();
    const { id } = await inquiries.open(ASKED);
    vi.spyOn(kv, "set").mockRejectedValueOnce(new Error("the disk is full"));
    const first = inquiries.answer(id, tea);
    const second = inquiries.answer(id, { ...tea, messageId: "m2" });
    await expect(first).rejects.toThrow("the disk is full");
    expect(await second).toMatchObject({ ok: true, inquiry: { end: { messageId: "m2" } } });
  });

  it("are forgotten a day after their time", async () => {
    const { kv, inquiries } = open();
    await inquiries.open(ASKED);
    vi.setSystemTime(1_000_000 + 60_000 + 24 * 3_600_000);
    await inquiries.load();
    expect(await kv.list("inquiries")).toEqual([]);
  });

  it("go with the session in which they were asked, and no other does", async () => {
    const { kv, inquiries } = open();
    const { id } = await inquiries.open(ASKED);
    await inquiries.answer(id, tea);
    const elsewhere = await inquiries.open({ ...ASKED, call: "run-2 call-1", sessionKey: "elsewhere" });
    await inquiries.forget("room");
    expect((await kv.list("inquiries")).map(({ key }) => key)).toEqual([elsewhere.id]);
    expect(inquiries.answeredBy("m1")).toBeUndefined();
  });
});

it("an option is meant by its number or its text, whatever its case, and other words are themselves", () => {
  const options = ["Tea", "Coffee"];
  expect(
    ["1", " 2 ", "coffee", "3", "0", "neither, thanks"].map((words) => readAnswer(words, options)),
  ).toEqual(["Tea", "Coffee", "Coffee", "3", "0", "neither, thanks"]);
});

it("a question shows its options with their numbers", () => {
  expect(inquiryText({ question: "Which?", options: ["Tea", "Coffee"] })).toContain("1. Tea\n2. Coffee");
  expect(inquiryText({ question: "When?", options: [] })).toBe("When?");
});

describe("what a person sees of an inquiry", () => {
  it("has a button for each answer, with a label that a platform takes", () => {
    const long = "x".repeat(60);
    expect(inquiryChoices(["Tea", long])).toEqual([
      { label: "Tea", answer: "1" },
      { label: `${"x".repeat(39)}…`, answer: "2" },
    ]);
    expect(readAnswer("2", ["Tea", long])).toBe(long);
  });

  it("says what became of it", () => {
    expect(inquiryEnding({ kind: "answered", text: "Tea", messageId: "m" })).toBe("Answered: Tea");
    expect(inquiryEnding({ kind: "stopped" })).toBe(inquiryEnding({ kind: "passed-over" }));
    expect(inquiryEnding({ kind: "expired" })).not.toBe(inquiryEnding({ kind: "stopped" }));
  });
});
