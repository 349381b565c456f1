import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { eventually, openWorld } from "../support/harness.ts";

it.each([
  [[], true],
  [["--quiet"], false],
])("says on standard error what it logs, unless it is to be quiet: start %j", async (args, isSaid) => {
  const world = await openWorld();
  world.configure("gateway: { port: 0 }\n");
  const child = await world.startChild(args);
  const logged = () => /"msg":"started"/.test(readFileSync(world.home.logFile, "utf8"));
  await eventually(logged, "the start is in the log");
  await child.end("SIGTERM");
  expect(/"msg":"started"/.test(child.stderr())).toBe(isSaid);
});
