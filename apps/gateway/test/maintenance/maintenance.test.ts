import { existsSync, mkdirSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { textMessage } from "@signalbox/testkit/feishu";
import { describe, expect, it } from "vitest";
import {
  eventually,
  exampleConfig,
  inStore,
  openWorld,
  TOKEN,
  type World,
  ZHANG,
} from "../support/harness.ts";

async function command(world: World, name: string) {
  const { code, out, err } = await world.command(["maintenance", name, "--json"]);
  expect(code, err).toBe(0);
  return JSON.parse(out);
}

/** A database of many free pages. */
async function fill(world: World): Promise<void> {
  await inStore(world, async (store) => {
    const long = "x".repeat(100_000);
    for (let i = 0; i < 200; i += 1) await store.kv.set("filler", String(i), long, 1);
    for (let i = 0; i < 20; i += 1) await store.traces.append(`m${i}`, [{ stage: "s", data: i }]);
    await store.traces.read("m0");
    await store.admin?.checkpoint();
  });
}

describe("maintenance", () => {
  it("is done by the gateway that runs, which answers people meanwhile", async () => {
    const world = await openWorld();
    world.configure(exampleConfig({ retention: { traces: 5 } }));
    world.script([{ text: "one" }, { text: "two" }]);
    const started = await world.start();
    await started.post(textMessage("1", { senderId: ZHANG, messageId: "om_1" }));
    await eventually(() => world.feishu.sent.length === 1, "the first reply is out");
    await fill(world);
    const before = statSync(world.home.databaseFile).size;
    expect(await command(world, "prune")).toMatchObject({ kv: 200, inbox: 0, sessions: 0 });
    expect((await inStore(world, (store) => store.traces.read("m10"))).length).toBe(0);
    const vacuum = command(world, "vacuum");
    await started.post(textMessage("2", { senderId: ZHANG, messageId: "om_2" }));
    expect((await vacuum).freedBytes).toBeGreaterThan(15_000_000);
    await eventually(() => world.feishu.sent.length === 2, "the second reply is out");
    await started.stop();
    expect(statSync(world.home.databaseFile).size).toBeLessThan(before / 4);
  });

  it("is done by the command itself where none runs, as the configuration says", async () => {
    const world = await openWorld();
    world.configure(exampleConfig({ retention: { traces: 5 } }));
    const started = await world.start();
    await started.stop();
    await fill(world);
    const blob = join(world.home.mediaDir, "a".repeat(64));
    mkdirSync(world.home.mediaDir, { recursive: true });
    writeFileSync(blob, "x");
    utimesSync(blob, 1, 1);
    expect(await command(world, "prune")).toMatchObject({ kv: 200, traces: 15 });
    expect(existsSync(blob)).toBe(false);
    expect((await command(world, "vacuum")).freedBytes).toBeGreaterThan(15_000_000);
  });

  it("is the owner's alone", async () => {
    const world = await openWorld();
    world.configure(exampleConfig());
    const started = await world.start();
    const post = (path: string, headers: Record<string, string>) =>
      fetch(`${started.url}/api/${path}`, { method: "POST", headers, body: "{}" });
    const json = { "content-type": "application/json" };
    const owner = { authorization: `Bearer ${TOKEN}` };
    for (const path of ["maintenance/prune", "maintenance/vacuum", "outbox/changed"]) {
      expect((await post(path, json)).status, path).toBe(401);
      expect((await post(path, owner)).status, path).toBe(415);
      expect((await post(path, { ...json, ...owner, origin: "https://elsewhere.example" })).status).toBe(403);
      expect((await post(path, { ...json, ...owner })).ok, path).toBe(true);
    }
  });
});
