import type { LiveEvent } from "@signalbox/protocol";
import { expect, it } from "vitest";
import { createLiveHub, redactLiveErrors, redactOutcome } from "./index.ts";

const redact = (text: string): string => text.replaceAll("hunter2", "[redacted]");

it("redacts the error events of a live hub and nothing else", () => {
  const seen: LiveEvent[] = [];
  const live = redactLiveErrors(
    createLiveHub((error) => {
      throw error;
    }),
    redact,
  );
  live.subscribe("s", (event) => void seen.push(event));
  live.publish("s", { type: "error", code: "internal", message: "hunter2 was refused", runId: "r" });
  live.publish("s", { type: "reset", messageId: "hunter2" });
  expect(seen).toMatchObject([
    { type: "error", message: "[redacted] was refused" },
    { type: "reset", messageId: "hunter2" },
  ]);
});

it("redacts and truncates the error message of an outcome", () => {
  const failed = {
    state: "failed",
    text: "",
    error: { code: "internal", message: `hunter2 ${"x".repeat(9_000)}` },
  };
  const { error } = redactOutcome({ ...failed, state: "failed" }, redact);
  expect(error?.message).toHaveLength(8_000);
  expect(error?.message).toMatch(/^\[redacted\] x/);
  expect(redactOutcome({ state: "replied", text: "hunter2" }, redact)).toEqual({
    state: "replied",
    text: "hunter2",
  });
});
