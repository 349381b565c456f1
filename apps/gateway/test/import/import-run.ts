import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { locateHome } from "@signalbox/home";
import { openStore, type SqliteStore, type StoreOptions } from "@signalbox/store";
import { onTestFinished } from "vitest";
import { type ImportOptions, importHome } from "../../src/import/import-home.ts";
import type { ItemState } from "../../src/import/item.ts";
import type { ImportReport } from "../../src/import/report.ts";

export const NOW: number = Date.UTC(2026, 10, 29, 12);
export const DAY = 86_400_000;

/** Creates a folder that is removed after the test. */
export function temporaryFolder(): string {
  const dir = mkdtempSync(join(tmpdir(), "signalbox-import-test-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** An import with its target. */
export interface Ran {
  readonly report: ImportReport;
  readonly store: SqliteStore;
  readonly home: string;
}

/** Imports a home. */
export async function run(
  dir: string,
  options: Partial<ImportOptions> = {},
  { home = temporaryFolder(), faults }: { home?: string; faults?: StoreOptions["faults"] } = {},
): Promise<Ran> {
  const place = locateHome(home, {});
  const store = await openStore({ path: place.databaseFile, clock: () => NOW, faults });
  onTestFinished(() => store.close());
  const report = await importHome(place, store, {
    system: "openclaw",
    dir,
    apply: true,
    secrets: true,
    only: undefined,
    force: new Set(),
    agents: {},
    accounts: {},
    owners: [],
    trustMemory: false,
    all: false,
    keepUnsupported: false,
    inPlace: false,
    hiddenMessagesMs: 90 * DAY,
    env: {},
    now: NOW,
    timeZone: "UTC",
    ...options,
  }).finally(() => (faults === undefined ? undefined : store.close()));
  return { report, store, home };
}

/** Returns the hashes of all files of a folder, by path. */
export function hashesOf(dir: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(dir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
      .map((file) => [file.slice(dir.length), createHash("sha256").update(readFileSync(file)).digest("hex")]),
  );
}

export const stateOf = ({ items }: ImportReport, id: string): ItemState | undefined =>
  items.find((item) => item.id === id)?.state;
export const whyOf = ({ items }: ImportReport, id: string): string | undefined =>
  items.find((item) => item.id === id)?.why;

/** Returns the number of values of a configuration. */
export const leavesOf = (value: unknown): number =>
  typeof value !== "object" || value === null || Object.keys(value).length === 0
    ? 1
    : Object.values(value).reduce((sum: number, each) => sum + leavesOf(each), 0);

/** Returns everything that an import writes. */
export async function describeResult({ store, home }: Ran): Promise<unknown> {
  const sessions = await store.sessions.list();
  const transcripts = await Promise.all(sessions.map(({ key }) => store.sessions.transcript(key)));
  return {
    files: Object.keys(hashesOf(home)).filter(
      (path) => !/signalbox\.db|config-history|skill-pins/.test(path),
    ),
    config: readFileSync(join(home, "signalbox.yaml"), "utf8"),
    sessions: sessions.map(({ key, lastSeq, data }) => ({ key, lastSeq, data })),
    transcripts: transcripts.map((messages) => messages.map(({ message, at }) => ({ message, at }))),
    schedules: await store.kv.list("schedules"),
    peers: (await store.pairing.peers()).map(({ channel, account, peerId }) => [channel, account, peerId]),
  };
}
