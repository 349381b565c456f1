import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { memoryKeyValues } from "../../test/key-values.ts";
import {
  formatUserQuestion,
  formatUserQuestionOutcome,
  getAnswerChoices,
  readAnswer,
} from "./user-question.ts";
import { createUserQuestions } from "./user-questions.ts";

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

const open = (kv = memoryKeyValues()) => ({ kv, userQuestions: createUserQuestions({ kv, now: Date.now }) });

describe("user questions", () => {
  it("close with the first answer and return it to the waiting call", async () => {
    const { userQuestions } = open();
    const { id } = await userQuestions.open(ASKED);
    const ended = userQuestions.wait(id, never);
    expect(userQuestions.getOpen("room", "plain:anna", false)?.id).toBe(id);
    expect(await userQuestions.answer(id, tea)).toMatchObject({ ok: true });
    expect(await ended).toEqual({ kind: "answered", text: "Tea", messageId: "m1" });
    expect(userQuestions.getOpen("room", "plain:anna", false)).toBeUndefined();
    expect(await userQuestions.answer(id, { ...tea, words: "2", messageId: "m2" })).toEqual({
      ok: false,
      why: "closed",
    });
  });

  it("are deleted a day after they expired", async () => {
    const { kv, userQuestions } = open();
    const { id } = await userQuestions.open(ASKED);
    await userQuestions.answer(id, tea);
    const day = 24 * 60 * 60_000;
    vi.advanceTimersByTime(day);
    await userQuestions.open({ ...ASKED, call: "run-2 call-1" });
    expect(userQuestions.getAnsweredBy("m1")?.id).toBe(id);
    vi.advanceTimersByTime(ASKED.ttlMs);
    const { id: last } = await userQuestions.open({ ...ASKED, call: "run-3 call-1" });
    expect(userQuestions.getAnsweredBy("m1")).toBeUndefined();
    expect((await kv.list("user_questions")).map(({ key }) => key)).not.toContain(id);
    expect((await kv.list("user_questions")).map(({ key }) => key)).toContain(last);
  });

  it("accept an answer only from the addressed person, with at least the same role", async () => {
    const { userQuestions } = open();
    const { id } = await userQuestions.open(ASKED);
    expect(userQuestions.getOpen("room", "plain:ben", true)).toBeUndefined();
    expect(userQuestions.getOpen("elsewhere", "plain:anna", true)).toBeUndefined();
    expect(await userQuestions.answer(id, { ...tea, speaker: "plain:ben" })).toEqual({
      ok: false,
      why: "wrong_person",
    });
    expect(await userQuestions.answer(id, { ...tea, role: "guest" })).toEqual({
      ok: false,
      why: "wrong_person",
    });
    expect(await userQuestions.answer("NOBODY22", tea)).toEqual({ ok: false, why: "unknown" });
  });

  it("keep their deadline and their answer across restarts", async () => {
    const { kv, userQuestions } = open();
    const first = await userQuestions.open(ASKED);
    vi.advanceTimersByTime(20_000);
    const next = open(kv).userQuestions;
    await next.load();
    expect(next.getOpen("room", "plain:anna", true)).toEqual(first);
    expect(await next.open(ASKED)).toEqual(first);
    expect(await next.answer(first.id, tea)).toMatchObject({ ok: true });
    const last = open(kv).userQuestions;
    await last.load();
    expect(last.getAnsweredBy("m1")?.id).toBe(first.id);
    // After a crash the same message may be processed again.
    expect(await last.answer(first.id, tea)).toMatchObject({ ok: true });
    expect(await last.wait(first.id, never)).toMatchObject({ text: "Tea" });
  });

  it("return an answer that another process received", async () => {
    const { kv, userQuestions } = open();
    const { id } = await userQuestions.open(ASKED);
    const ended = userQuestions.wait(id, never);
    await vi.advanceTimersByTimeAsync(100);
    await open(kv).userQuestions.answer(id, tea);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await ended).toMatchObject({ kind: "answered", text: "Tea" });
  });

  it("accept no answer after they expired, even if the clock is set back", async () => {
    const { kv, userQuestions } = open();
    const { id } = await userQuestions.open(ASKED);
    const ended = userQuestions.wait(id, never);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await ended).toEqual({ kind: "expired" });
    vi.setSystemTime(1_000_000);
    expect(await userQuestions.answer(id, tea)).toEqual({ ok: false, why: "closed" });
    expect(await open(kv).userQuestions.wait(id, never)).toEqual({ kind: "expired" });
  });

  it("stay open for the next process if the wait is aborted", async () => {
    const { userQuestions } = open();
    const { id } = await userQuestions.open(ASKED);
    const stopping = new AbortController();
    const ended = userQuestions.wait(id, stopping.signal);
    await vi.advanceTimersByTimeAsync(0);
    stopping.abort();
    expect(await ended).toBeUndefined();
    expect(userQuestions.getOpen("room", "plain:anna", true)?.id).toBe(id);
    expect(userQuestions.getOpen("room", "plain:anna", false)).toBeUndefined();
    await userQuestions.close(id, "stopped");
    expect(await userQuestions.wait(id, never)).toEqual({ kind: "stopped" });
  });

  it("stay open if the answer cannot be stored", async () => {
    const kv = memoryKeyValues();
    const { userQuestions } = open(kv);
    const { id } = await userQuestions.open(ASKED);
    vi.spyOn(kv, "set").mockRejectedValueOnce(new Error("the disk is full"));
    await expect(userQuestions.answer(id, tea)).rejects.toThrow("the disk is full");
    expect(userQuestions.getOpen("room", "plain:anna", true)?.id).toBe(id);
    expect(await userQuestions.answer(id, tea)).toMatchObject({ ok: true });
  });

  it("accept one of two concurrent answers", async () => {
    const { kv, userQuestions } = open();
    const { id } = await userQuestions.open(ASKED);
    const ended = userQuestions.wait(id, never);
    const answers = ["m1", "m2"].map((messageId) => userQuestions.answer(id, { ...tea, messageId }));
    expect(await Promise.all(answers)).toMatchObject([{ ok: true }, { ok: false, why: "closed" }]);
    expect(await ended).toMatchObject({ messageId: "m1" });
    expect(await open(kv).userQuestions.wait(id, never)).toMatchObject({ messageId: "m1" });
  });

  it("reject an answer that arrives while they are being closed", async () => {
    const { kv, userQuestions } = open();
    const { id } = await userQuestions.open(ASKED);
    const ended = userQuestions.wait(id, never);
    const [answered] = await Promise.all([userQuestions.answer(id, tea), userQuestions.close(id, "stopped")]);
    expect(answered).toMatchObject({ ok: false, why: "closed" });
    expect(await ended).toEqual({ kind: "stopped" });
    expect(await open(kv).userQuestions.wait(id, never)).toEqual({ kind: "stopped" });
  });

  it("accept the second of two concurrent answers if the first cannot be stored", async () => {
    const { kv, userQuestions } = open();
    const { id } = await userQuestions.open(ASKED);
    vi.spyOn(kv, "set").mockRejectedValueOnce(new Error("the disk is full"));
    const first = userQuestions.answer(id, tea);
    const second = userQuestions.answer(id, { ...tea, messageId: "m2" });
    await expect(first).rejects.toThrow("the disk is full");
    expect(await second).toMatchObject({ ok: true, question: { outcome: { messageId: "m2" } } });
  });

  it("are deleted at load if they expired more than a day ago", async () => {
    const { kv, userQuestions } = open();
    await userQuestions.open(ASKED);
    vi.setSystemTime(1_000_000 + 60_000 + 24 * 3_600_000);
    await userQuestions.load();
    expect(await kv.list("user_questions")).toEqual([]);
  });

  it("are deleted together with their session, but not with another one", async () => {
    const { kv, userQuestions } = open();
    const { id } = await userQuestions.open(ASKED);
    await userQuestions.answer(id, tea);
    const elsewhere = await userQuestions.open({ ...ASKED, call: "run-2 call-1", sessionKey: "elsewhere" });
    await userQuestions.forget("room");
    expect((await kv.list("user_questions")).map(({ key }) => key)).toEqual([elsewhere.id]);
    expect(userQuestions.getAnsweredBy("m1")).toBeUndefined();
  });
});

it("an answer selects an option by number or by text in any case, and is taken literally otherwise", () => {
  const options = ["Tea", "Coffee"];
  expect(
    ["1", " 2 ", "coffee", "3", "0", "neither, thanks"].map((words) => readAnswer(words, options)),
  ).toEqual(["Tea", "Coffee", "Coffee", "3", "0", "neither, thanks"]);
});

it("a question is shown with numbered options", () => {
  expect(formatUserQuestion({ question: "Which?", options: ["Tea", "Coffee"] })).toContain(
    "1. Tea\n2. Coffee",
  );
  expect(formatUserQuestion({ question: "When?", options: [] })).toBe("When?");
});

describe("the presentation of a user question", () => {
  it("has a button for each option, with a label of at most 40 characters", () => {
    const long = "x".repeat(60);
    expect(getAnswerChoices(["Tea", long])).toEqual([
      { label: "Tea", answer: "1" },
      { label: `${"x".repeat(39)}…`, answer: "2" },
    ]);
    expect(readAnswer("2", ["Tea", long])).toBe(long);
  });

  it("shows the outcome", () => {
    expect(formatUserQuestionOutcome({ kind: "answered", text: "Tea", messageId: "m" })).toBe(
      "Answered: Tea",
    );
    expect(formatUserQuestionOutcome({ kind: "stopped" })).toBe(
      formatUserQuestionOutcome({ kind: "passed_over" }),
    );
    expect(formatUserQuestionOutcome({ kind: "expired" })).not.toBe(
      formatUserQuestionOutcome({ kind: "stopped" }),
    );
  });
});
