import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openStore } from "@signalbox/store";
import { afterEach, beforeEach, expect, it } from "vitest";
import { withDatabase } from "./database.ts";
import { locateHome } from "./layout.ts";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "signalbox-home-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

it.each(["read", "share"] as const)(
  "does not change a database of another release with access %s",
  async (access) => {
    const path = join(home, "signalbox.db");
    await (await openStore({ path })).close();
    const file = new DatabaseSync(path);
    file.exec("PRAGMA user_version = 0");
    file.close();
    const before = readFileSync(path);
    await expect(
      withDatabase(locateHome(home, {}), access, (store) => store.sessions.list()),
    ).rejects.toThrow(/schema version 0/);
    expect(readFileSync(path).equals(before)).toBe(true);
  },
);
