import { describe, expect, it, vi } from "vitest";
import { RunSignal } from "./run-signal.ts";

describe("RunSignal", () => {
  it("keeps the first cause", () => {
    vi.useFakeTimers();
    try {
      const outer = new AbortController();
      const late = new RunSignal(outer.signal, 10);
      vi.advanceTimersByTime(10);
      outer.abort(new Error("too late"));
      expect(late.cause).toBe("wallMs");
      expect(late.signal.reason).toMatchObject({ message: "The run took longer than 10 ms." });
      const early = new RunSignal(undefined, 10);
      early.abort("stop");
      vi.advanceTimersByTime(10);
      expect(early.cause).toBe("aborted");
      expect(early.signal.reason).toBe("stop");
    } finally {
      vi.useRealTimers();
    }
  });

  it("tells those who wait, once, and those who come later at once", () => {
    const stop = new RunSignal(undefined, undefined);
    const told: string[] = [];
    const gone = (): void => void told.push("gone");
    stop.on(gone);
    stop.on(() => told.push("waiting"));
    stop.off(gone);
    stop.on(() => told.push("instead of it"));
    stop.on(gone);
    stop.off(gone);
    stop.abort("x");
    stop.abort("y");
    stop.on(() => told.push("later"));
    expect(told.sort()).toEqual(["instead of it", "later", "waiting"]);
    expect(new RunSignal(AbortSignal.abort("before"), undefined).signal.reason).toBe("before");
  });

  it("does not wait for what a stopped run no longer needs", async () => {
    const stop = new RunSignal(undefined, undefined);
    const hanging = stop.orStopped(new Promise(() => {}));
    expect(await stop.orStopped(Promise.resolve(1))).toBe(1);
    await expect(stop.orStopped(Promise.reject(new Error("no")))).rejects.toThrow("no");
    stop.abort("x");
    expect(await hanging).toBeUndefined();
  });
});
