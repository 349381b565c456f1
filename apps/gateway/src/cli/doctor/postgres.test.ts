import type { PostgresReport } from "@signalbox/store-postgres";
import { expect, it } from "vitest";
import { checkPostgres } from "./postgres.ts";

const SOUND: PostgresReport = {
  server: "17.2",
  serverNumber: 170_002,
  schemaVersion: 2,
  databaseBytes: 9_000,
  clockSkewMs: 3,
  hasTimeouts: true,
  isStandby: false,
  unsafeSettings: [],
  hasAutovacuum: true,
  oldestSnapshotMs: 100,
  synchronousStandbys: "ANY 1 (a, b)",
};

const statesOf = (report: PostgresReport) =>
  checkPostgres(report).map(({ part, state }) => `${part} ${state}`);

it("finds nothing wrong with a sound server", () => {
  expect(statesOf(SOUND)).toEqual([
    "database ok",
    "autovacuum ok",
    "oldest transaction ok",
    "synchronous standby ok",
  ]);
});

it.each<[string, Partial<PostgresReport>, string]>([
  ["an old server", { serverNumber: 140_009 }, "database error"],
  ["a standby", { isStandby: true }, "database error"],
  ["missing time limits", { hasTimeouts: false }, "database error"],
  ["a wrong clock", { clockSkewMs: -5_000 }, "database error"],
  ["settings that lose commits", { unsafeSettings: ["fsync = off"] }, "database error"],
  ["switched off autovacuum", { hasAutovacuum: false }, "autovacuum warning"],
  ["an old transaction", { oldestSnapshotMs: 7_200_000 }, "oldest transaction warning"],
])("reports %s with a remedy", (_, change, expected) => {
  const findings = checkPostgres({ ...SOUND, ...change });
  expect(findings.map(({ part, state }) => `${part} ${state}`)).toContain(expected);
  for (const { state, remedy } of findings) if (state !== "ok") expect(remedy).toBeDefined();
});
