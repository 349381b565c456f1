import type { OutboundPart } from "@signalbox/channel";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createPartDeadlines, MediaFailures } from "./part-deadlines.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const text: OutboundPart = { type: "text", text: "hi" };
const media: OutboundPart = {
  type: "media",
  kind: "file",
  name: "a",
  mimeType: "text/plain",
  size: 1,
  ref: null,
};
const row = { id: "row", payload: { parts: [text, media, text] } };
const never = new AbortController().signal;

it("gives each part its own deadline, and an attachment more time than two uploads", () => {
  const limit = createPartDeadlines(row, new MediaFailures(), never);
  limit.begin(0);
  vi.advanceTimersByTime(59_000);
  limit.begin(1);
  // Twice the longest upload time of a channel.
  vi.advanceTimersByTime(2 * 120_000);
  expect(limit.signal.aborted).toBe(false);
  limit.begin(2);
  vi.advanceTimersByTime(59_000);
  expect(limit.signal.aborted).toBe(false);
  vi.advanceTimersByTime(1_000);
  expect(limit.signal.aborted).toBe(true);
});

it("gives up an attachment at its fifth failure, and starts over after the end of its row", () => {
  const failures = new MediaFailures();
  const fail = () => {
    const limit = createPartDeadlines(row, failures, never);
    limit.begin(1);
    vi.advanceTimersByTime(300_000);
    expect(limit.signal.aborted).toBe(true);
    const line = limit.giveUp(1);
    limit.end();
    return line;
  };
  for (let count = 1; count < 5; count++) expect(fail()).toBeUndefined();
  expect(fail()?.aborted).toBe(false);
  failures.delete(row.id);
  expect(fail()).toBeUndefined();
});

it("aborts when sending stops, and then gives up no attachment", () => {
  const stop = new AbortController();
  const limit = createPartDeadlines(row, new MediaFailures(), stop.signal);
  limit.begin(1);
  for (let count = 1; count < 5; count++) limit.giveUp(1);
  stop.abort();
  expect(limit.signal.aborted).toBe(true);
  expect(limit.giveUp(1)).toBeUndefined();
});
