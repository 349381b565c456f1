import { mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { eventually, exampleConfig, openWorld } from "../support/harness.ts";

it("copies that nothing waits for any more go when the gateway starts", async () => {
  const world = await openWorld();
  world.configure(exampleConfig());
  const { mediaDir } = world.home;
  mkdirSync(mediaDir, { recursive: true });
  const [old, young] = ["a".repeat(64), "b".repeat(64)];
  for (const name of [old, young]) writeFileSync(join(mediaDir, name), "x");
  utimesSync(join(mediaDir, old), 1, 1);
  await world.start();
  await eventually(() => !readdirSync(mediaDir).includes(old), "the old copy is removed");
  expect(readdirSync(mediaDir)).toEqual([young]);
});
