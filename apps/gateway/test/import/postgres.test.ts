import { existsSync } from "node:fs";
import { join } from "node:path";
import { type PostgresServer, startPostgres } from "@signalbox/testkit/postgres";
import { afterAll, describe, expect, it } from "vitest";
import { openWorld, type World } from "../support/harness.ts";
import { createNanobotSource } from "./nanobot-source.ts";
import { createOpenclawSource, DIRECT } from "./openclaw-source.ts";

const started = await startPostgres();
const server: PostgresServer | undefined = typeof started === "string" ? undefined : started;
if (typeof started === "string") console.log(`skipped: ${started}`);
afterAll(() => server?.stop());

interface Report {
  readonly items: readonly { part: string; id: string; state: string; why?: string }[];
}

async function run(world: World, ...args: readonly string[]): Promise<string> {
  const child = world.run(args);
  const { code } = await child.exited;
  if (code !== 0) throw new Error(child.stderr());
  return child.stdout();
}

async function runImport(world: World, system: string, dir: string): Promise<Report> {
  return JSON.parse(await run(world, "import", system, dir, "--apply", "--secrets", "--json")) as Report;
}

const isWritten = ({ state }: { readonly state: string }): boolean =>
  state === "imported" || state === "changed";

describe.skipIf(server === undefined)("an import into a home with its database in PostgreSQL", () => {
  it("includes the conversations if no gateway has used the database, and changes nothing in a second run", async () => {
    const world = await openWorld();
    world.configure({ gateway: { port: 0 }, store: { url: server?.url() } });
    const dir = createOpenclawSource();
    const report = await runImport(world, "openclaw", dir);
    expect(report.items.find(({ id }) => id === DIRECT.key)?.state).toBe("imported");
    expect(existsSync(world.home.databaseFile)).toBe(false);
    expect(existsSync(join(world.home.dir, "import-in-progress"))).toBe(false);
    const shown = await run(world, "sessions", "show", "agent:main:telegram:direct:5001", "--json");
    expect(JSON.parse(shown).messages).toHaveLength(2);
    expect(await run(world, "cron", "list", "--json")).toContain("Say good morning");
    const again = await runImport(world, "openclaw", dir);
    expect(again.items.filter(isWritten)).toEqual([]);

    // Now the database is in use.
    const other = await runImport(world, "nanobot", createNanobotSource());
    const session = other.items.find(({ id }) => id === "telegram:-100");
    expect(session).toMatchObject({ state: "unsupported", why: expect.stringContaining("PostgreSQL") });
    expect(other.items.find(({ id }) => id === "a")?.state).toBe("changed");
  });
});
