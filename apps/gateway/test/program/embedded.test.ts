import { spawn } from "node:child_process";
import { DatabaseSync } from "node:sqlite";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { createGateway } from "../../src/index.ts";
import { exampleConfig, openWorld } from "../support/harness.ts";
import { plainChannel, plainMessage } from "../support/plain-channel.ts";

/** Seen until the test ends: what would end a host program. */
function unhandled(): unknown[] {
  const seen: unknown[] = [];
  const onRejection = (error: unknown) => void seen.push(error);
  process.on("unhandledRejection", onRejection);
  onTestFinished(() => void process.off("unhandledRejection", onRejection));
  return seen;
}

it("a store that cannot be used while its start takes up a run fails that start, and does not end its host", async () => {
  const world = await openWorld();
  const gateway = { port: 0, logLevel: "silent", shutdownMs: 0 };
  const config = exampleConfig({ gateway, channels: { plain: { accounts: { main: {} } } } });
  world.configure(config);
  const asked = Promise.withResolvers<void>();
  world.script(async () => {
    asked.resolve();
    return new Promise(() => {});
  });
  const before = plainChannel();
  const first = await world.start({ channels: [before.definition] });
  await before.emit(plainMessage("m1", "hello"));
  await asked.promise;
  await first.stop();
  const seen = unhandled();
  // Accounts come up first where something is left; another process takes the lease at that moment.
  const { definition } = plainChannel({
    async start() {
      const database = new DatabaseSync(world.home.databaseFile, { timeout: 10_000 });
      database.exec("UPDATE lease SET epoch = epoch + 1");
      database.close();
    },
  });
  const started = createGateway({ home: world.home.dir, config, env: world.env, channels: [definition] });
  await expect(started).rejects.toThrow(/lease/);
  await new Promise((resolve) => setImmediate(resolve));
  expect(seen).toEqual([]);
});

/** A host that reloads its gateway with these settings of its section one after the other. */
const RELOADING = `
const { createGateway } = await import(process.env.GATEWAY);
const { loadConfig } = await import("@signalbox/config");
const [options, first, ...later] = JSON.parse(process.env.SETTINGS);
const configOf = (gateway) => ({ gateway: { port: 0, ...gateway } });
const gateway = await createGateway({ home: process.env.TEST_HOME, config: configOf(first), env: {}, ...options });
for (const each of later) {
  const text = JSON.stringify(configOf(each));
  await gateway.reload(() => loadConfig({ file: "signalbox.yaml", text, env: {} }));
}
await gateway.stop();
`;

/** What it logs, at which level, of its reloads. */
async function loggedBy(...settings: readonly object[]): Promise<number> {
  const world = await openWorld();
  const child = spawn(process.execPath, ["--input-type=module", "-e", RELOADING], {
    cwd: fileURLToPath(new URL("../..", import.meta.url)),
    env: {
      ...world.env,
      GATEWAY: new URL("../../src/index.ts", import.meta.url).href,
      TEST_HOME: world.home.dir,
      SETTINGS: JSON.stringify(settings),
    },
    stdio: ["ignore", "ignore", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const said = await text(child.stderr);
  return said.split("the configuration was reloaded").length - 1;
}

it("what its host says of the log stands against any reload, and else the configuration's level applies", async () => {
  const [info, debug] = [{ logLevel: "info" }, { logLevel: "debug" }];
  expect(await loggedBy({ logLevel: "silent" }, info, { ...info, inboxLimit: 5 }, debug)).toBe(0);
  // Each reload is told of at the level that it sets.
  expect(await loggedBy({}, { logLevel: "warn" }, info, debug, { logLevel: "error" })).toBe(2);
  expect(await loggedBy({}, info, { ...info, inboxLimit: 5 })).toBe(1);
});
