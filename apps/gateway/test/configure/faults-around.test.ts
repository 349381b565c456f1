import { chmodSync, existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it, onTestFinished } from "vitest";
import { demoConfig, openWorld, TOKEN, type World } from "../support/harness.ts";

const root = process.getuid?.() === 0;
if (root) console.info("skipped: a home that cannot be written, since the superuser may write everywhere.");

type Env = Readonly<Record<string, string>>;

/** How `signalbox start` ends with one line, before it has begun. */
async function refusal(world: World, args: readonly string[] = []) {
  const { code, err } = await world.command(["start", ...args]);
  return { code, line: onlyLine(err) };
}

/** The same of one that has begun, and whose log is open as long as its process. */
async function failure(world: World, env: Env = {}) {
  const child = world.run(["start"], env);
  const { code } = await child.exited;
  return { code, line: onlyLine(child.stderr()) };
}

function onlyLine(said: string): string {
  // What was mended of the home stands in the log.
  const lines = said
    .trim()
    .split("\n")
    .filter((line) => !line.startsWith("{"));
  expect(lines).toHaveLength(1);
  return lines[0] ?? "";
}

it.each([["config", "check"], ["doctor"]])("looking makes no folder: %s", async (...args) => {
  const world = await openWorld();
  rmSync(world.home.dir, { recursive: true });
  expect(await world.command(args)).toMatchObject({ code: 0 });
  expect(existsSync(world.home.dir)).toBe(false);
});

describe("surroundings with a fault", () => {
  it("a port in use", async () => {
    const world = await openWorld();
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void other.close());
    const { port } = other.address() as AddressInfo;
    world.configure(demoConfig({ gateway: { port } }));
    const { code, line } = await failure(world);
    expect(code).toBe(69);
    // The token is shown by the start that succeeds.
    expect(readdirSync(world.home.dir)).not.toContain("token");
    expect(line).toMatch(new RegExp(`gateway\\.port: 127\\.0\\.0\\.1:${port} is in use`));
    expect(line).toMatch(/Stop that program, or set another port in this file/);
    expect(line).toContain(world.home.configFile);
  });

  it("a home that another gateway holds", async () => {
    const world = await openWorld();
    world.configure(demoConfig());
    const holder = await world.startChild();
    const { code, line } = await failure(world);
    expect(code).toBe(75);
    expect(line).toContain(world.home.dir);
    expect(line).toContain(String(holder.process.pid));
    expect((await fetch(`${holder.url}/readyz`)).status).toBe(200);
    // However the holder ends, the home is free.
    await holder.end("SIGKILL");
    await world.start();
  });

  it("a database of a newer version", async () => {
    const world = await openWorld();
    world.configure(demoConfig());
    const started = await world.start();
    await started.stop();
    const database = new DatabaseSync(world.home.databaseFile);
    const { user_version: version } = database.prepare("PRAGMA user_version").get() ?? {};
    database.exec(`PRAGMA user_version = ${Number(version) + 1}`);
    database.close();
    const { code, line } = await refusal(world);
    expect(code).toBe(65);
    expect(line).toContain(world.home.databaseFile);
    expect(line).toMatch(/newer/);
    for (const args of [["sessions"], ["backup", join(world.dir, "backup")]])
      expect((await world.command(args)).code, args[0]).toBe(65);
  });

  it("a host that has no address", async () => {
    const world = await openWorld();
    world.configure(demoConfig({ gateway: { port: 0, host: "no-such-host.invalid" } }));
    const { code, line } = await failure(world, { SIGNALBOX_TOKEN: TOKEN });
    expect(code).toBe(69);
    expect(line).toMatch(
      /signalbox\.yaml: gateway\.host, gateway\.port: cannot listen on no-such-host\.invalid:0/,
    );
    expect(line).toContain("Use an address of this machine");
  });

  it("a database that is none", async () => {
    const world = await openWorld();
    world.configure(demoConfig());
    writeFileSync(
      world.home.databaseFile,
      "this is no database, only a text that is long enough ".repeat(20),
    );
    const { code, line } = await failure(world);
    expect(code).toBe(73);
    expect(line).toContain(world.home.databaseFile);
  });

  it.skipIf(root)("a home that cannot be written", async () => {
    const world = await openWorld();
    chmodSync(world.home.dir, 0o500);
    onTestFinished(() => chmodSync(world.home.dir, 0o700));
    const { code, line } = await refusal(world);
    expect(code).toBe(73);
    expect(line).toContain(world.home.dir);
  });

  it("a home inside a file", async () => {
    const world = await openWorld();
    const file = join(world.dir, "file");
    writeFileSync(file, "");
    const { code, line } = await refusal(world, ["--home", join(file, "home")]);
    expect(code).toBe(73);
    expect(line).toMatch(
      /file\/home cannot be used: .* Make it writable .* or choose another with --home or SIGNALBOX_HOME/,
    );
  });

  it("an address that others can reach, without a token", async () => {
    const world = await openWorld();
    world.configure({ gateway: { host: "0.0.0.0", port: 0 } });
    const { code, line } = await refusal(world);
    expect(code).toBe(78);
    expect(line).toMatch(/signalbox\.yaml.*gateway\.host: 0\.0\.0\.0 .*token/);
    expect(line).toMatch(/gateway\.auth\.token or SIGNALBOX_TOKEN, or listen on 127\.0\.0\.1/);
    const child = await world.startChild([], { SIGNALBOX_TOKEN: TOKEN });
    expect(child.stderr()).not.toContain(TOKEN);
  });

  it("a token is made on first start, shown once, and kept for the owner alone", async () => {
    const world = await openWorld();
    world.configure({ gateway: { port: 0 } });
    const first = await world.startChild();
    const token = /shown once[^:]*: (\S+)/.exec(first.stderr())?.[1] ?? "";
    expect(Buffer.from(token, "base64url")).toHaveLength(32);
    const me = (url: string) => fetch(`${url}/api/me`, { headers: { authorization: `Bearer ${token}` } });
    expect((await me(first.url)).status).toBe(200);
    await first.end("SIGTERM");
    const second = await world.startChild();
    expect(second.stderr()).not.toContain(token);
    expect((await me(second.url)).status).toBe(200);
  });

  it("a command that is none", async () => {
    const world = await openWorld();
    for (const args of [["strat"], ["start", "--no-such-option"], ["backup"]]) {
      expect((await world.command(args)).code, args.join(" ")).toBe(64);
    }
    const status = await world.command(["status"]);
    expect(status.code).toBe(69);
    expect(status.err).toMatch(/^signalbox: No gateway is running on .*Start one with/);
  });
});
