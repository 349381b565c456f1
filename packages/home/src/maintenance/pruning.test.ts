import { loadConfig } from "@signalbox/config";
import { expect, it } from "vitest";
import { retentionOf } from "./pruning.ts";

const DAY = 86_400_000;
const { retention } = loadConfig({ file: "signalbox.yaml", text: "", env: {} }).config;

it("converts the configured retention", () => {
  expect(retentionOf({ ...retention, idleSessionsDays: 365, sessions: 1_000 })).toEqual({
    inboxMs: 7 * DAY,
    dedupeMs: 14 * DAY,
    runsMs: 30 * DAY,
    outboxMs: 14 * DAY,
    tracesMs: 7 * DAY,
    traceRows: 200_000,
    traceBytes: 256_000_000,
    hiddenMessagesMs: 90 * DAY,
    idleSessionsMs: 365 * DAY,
    sessions: 1_000,
    databaseBytes: 4_000_000_000,
  });
  expect(retentionOf(retention).idleSessionsMs).toBeUndefined();
});
