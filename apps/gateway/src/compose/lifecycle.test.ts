import { createLogger } from "@signalbox/telemetry/logger";
import { expect, it } from "vitest";
import { createLifecycle } from "./lifecycle.ts";

const logger = createLogger("silent", (text) => text);

it("stops what was started in the opposite order, over what fails, before one deadline", async () => {
  let time = 0;
  const log: string[] = [];
  const lifecycle = createLifecycle(logger, () => time);
  lifecycle.started("store", (left) => log.push(`store ${left()}`));
  lifecycle.started("accounts", () => {
    log.push("accounts");
    throw new Error("no");
  });
  lifecycle.started("lanes", async (left) => {
    log.push(`lanes ${left()}`);
    time += 70;
  });
  await Promise.all([lifecycle.stop(100), lifecycle.stop(5_000)]);
  expect(log).toEqual(["lanes 100", "accounts", "store 30"]);
});
