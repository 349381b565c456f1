import { expect, it, vi } from "vitest";
import { withProgress } from "./progress.ts";

function screen(isTTY: boolean) {
  const written: string[] = [];
  return { isTTY, written, write: (text: string) => written.push(text) };
}

it("says on a terminal what is done and for how long, and clears the line whatever comes of it", async () => {
  vi.useFakeTimers();
  try {
    const terminal = screen(true);
    const { promise, reject } = Promise.withResolvers<never>();
    const work = withProgress("Copying", () => promise, terminal);
    vi.advanceTimersByTime(2_000);
    expect(terminal.written).toEqual([
      "\rCopying…\u001b[K",
      "\rCopying… 1 s\u001b[K",
      "\rCopying… 2 s\u001b[K",
    ]);
    reject(new Error("the disk is full"));
    await expect(work).rejects.toThrow("the disk is full");
    vi.advanceTimersByTime(5_000);
    expect(terminal.written.slice(3)).toEqual(["\r\u001b[K"]);
  } finally {
    vi.useRealTimers();
  }
});

it("writes nothing where there is no terminal", async () => {
  const pipe = screen(false);
  expect(await withProgress("Copying", async () => 42, pipe)).toBe(42);
  expect(pipe.written).toEqual([]);
});
