import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ClusterWorld } from "./world.ts";

type DumpedWorld = Pick<
  ClusterWorld,
  "anthropic" | "database" | "feishu" | "logs" | "mode" | "platform" | "relays" | "vendors"
>;

/** Writes the database, the logs and the records of the fake servers to a folder that is kept, and returns its path. */
export async function dumpWorld(world: DumpedWorld): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-cluster-dump-"));
  const { database, platform, anthropic, feishu, relays, vendors, mode } = world;
  const tables = await database.query<{ name: string }>(
    "SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'",
  );
  mkdirSync(join(folder, "tables"));
  for (const { name } of tables) {
    const rows = await database.query<{ row: unknown }>(`SELECT to_jsonb(t) AS row FROM "${name}" AS t`);
    writeLines(
      join(folder, "tables", `${name}.jsonl`),
      rows.map(({ row }) => row),
    );
  }
  for (const [index, log] of world.logs().entries())
    writeFileSync(join(folder, `process-${index + 1}.log`), log);
  writeLines(join(folder, "model-requests.jsonl"), anthropic.requests);
  writeLines(join(folder, "feishu.jsonl"), feishu.sent);
  writeLines(join(folder, "relays.jsonl"), relays.posts);
  writeLines(
    join(folder, "vendors.jsonl"),
    [...vendors].flatMap(([session, vendor]) => vendor.posts(String(session))),
  );
  const { acknowledged, edits, deletions, odd } = platform;
  writeLines(join(folder, "people.jsonl"), [{ mode, edits, deletions, odd }, ...acknowledged]);
  return folder;
}

function writeLines(file: string, values: readonly unknown[]): void {
  writeFileSync(file, values.map((value) => `${JSON.stringify(value)}\n`).join(""));
}
