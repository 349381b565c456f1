import { test } from "vitest";
import { openStore } from "../src/index.ts";
import { storeConformance } from "../src/testkit/index.ts";

storeConformance(test, async () => {
  const time = { now: Date.UTC(2026, 10, 21, 12) };
  return {
    store: await openStore({ path: ":memory:", clock: () => time.now }),
    now: () => time.now,
    advance: (ms) => {
      time.now += ms;
    },
  };
});
