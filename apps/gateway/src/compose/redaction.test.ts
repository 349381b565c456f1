import { createLogger } from "@signalbox/telemetry/logger";
import { expect, it } from "vitest";
import type { RunEnded } from "../hooks/points.ts";
import { createGatewayHooks } from "../hooks/registry.ts";
import { hooksWithRedaction } from "./redaction.ts";

it("takes secrets out of what hooks are told of a run that failed, and leaves the rest", async () => {
  const told: unknown[] = [];
  const redact = (text: string) => text.replaceAll("secret", "[redacted]");
  const observer = {
    name: "watch",
    run: (ended: object) => void told.push(ended),
  };
  const hooks = createGatewayHooks(
    hooksWithRedaction([{ ...observer, point: "run_end" }], redact),
    createLogger("silent", (line) => line),
  );
  const ended: RunEnded = {
    agentId: "coder",
    sessionKey: "s",
    runId: "r",
    messageIds: ["m"],
    outcome: "failed",
    usage: undefined,
    error: undefined,
  };
  hooks.observe("run_end", { ...ended, error: { code: "internal", message: "a secret was refused" } });
  hooks.observe("run_end", ended);
  await hooks.idle();
  expect(told).toEqual([
    { ...ended, error: { code: "internal", message: "a [redacted] was refused" } },
    ended,
  ]);
});
