import { expect, it } from "vitest";
import { fakeContext } from "../../test/support/fake-context.ts";
import { isIdle } from "./neighbors.ts";

it("an agent is not given up while messages for it may be claimed and not queued yet", () => {
  const idle = { lanes: { busyKeys: () => [] }, toolbox: { commands: () => [] }, claimed: [] };
  expect(isIdle(fakeContext(idle), "main")).toBe(true);
  expect(isIdle(fakeContext({ ...idle, claiming: new Set([Promise.resolve()]) }), "main")).toBe(false);
  expect(isIdle(fakeContext({ ...idle, claimed: ["01"] }), "main")).toBe(false);
  expect(isIdle(fakeContext({ ...idle, passing: new Map([["s", Promise.resolve()]]) }), "main")).toBe(false);
});
