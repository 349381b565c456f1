import type { LiveEvent } from "@signalbox/protocol";
import { expect, it } from "vitest";
import { createLiveHub, liveWithRedaction, redactedOutcome } from "./index.ts";

const redact = (text: string): string => text.replaceAll("hunter2", "[redacted]");

it("tells viewers of failures without secrets, and everything else as it is", () => {
  const seen: LiveEvent[] = [];
  const live = liveWithRedaction(
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

it("tells those who wait for an end of it without secrets, and of very long errors the beginning", () => {
  const failed = {
    state: "failed",
    text: "",
    error: { code: "internal", message: `hunter2 ${"x".repeat(9_000)}` },
  };
  const { error } = redactedOutcome({ ...failed, state: "failed" }, redact);
  expect(error?.message).toHaveLength(8_000);
  expect(error?.message).toMatch(/^\[redacted\] x/);
  expect(redactedOutcome({ state: "replied", text: "hunter2" }, redact)).toEqual({
    state: "replied",
    text: "hunter2",
  });
});
