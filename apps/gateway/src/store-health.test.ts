import { StoreError } from "@signalbox/store/errors";
import { expect, it } from "vitest";
import { createStoreHealth } from "./store-health.ts";

it("remembers a full disk until a write succeeds, and ignores other errors", () => {
  const health = createStoreHealth();
  health.failed(new Error("a bug"));
  health.failed(new StoreError("conflict", "the row has changed"));
  expect(health.fault()).toBeUndefined();
  health.failed(new Error("wrapped", { cause: new StoreError("disk_full", "the disk is full") }));
  expect(health.fault()).toBe("disk_full");
  health.works();
  expect(health.fault()).toBeUndefined();
});
