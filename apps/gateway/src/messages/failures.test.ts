import { FencedError, StoreError } from "@signalbox/store";
import { expect, it } from "vitest";
import { classifyRunFailure } from "./failures.ts";

it("tells what fails for good from what passes", () => {
  const told = (error: unknown): string[] => [0, 100].map((before) => classifyRunFailure(error, before));
  expect(told(new RangeError("no such time zone"))).toEqual(["give_up", "give_up"]);
  for (const code of ["disk_full", "locked"] as const) {
    expect(told(new StoreError(code, "later"))).toEqual(["retry", "retry"]);
    expect(told(new Error("a step", { cause: new StoreError(code, "later") }))).toEqual(["retry", "retry"]);
  }
  expect(told(new StoreError("io", "gone"))).toEqual(["fatal", "fatal"]);
  // Parts of the program that another version took the place of; what others need is theirs to install.
  const notFound = (url: string) =>
    Object.assign(new Error("not found"), { code: "ERR_MODULE_NOT_FOUND", url });
  expect(told(notFound(new URL("signalbox-part-1.js", import.meta.url).href))).toEqual(["fatal", "fatal"]);
  expect(told(notFound("file:///elsewhere/plugin.js"))).toEqual(["give_up", "give_up"]);
  // A host that embeds the gateway may have a copy of the store besides.
  const ofAnotherCopy = { code: "disk_full", [Symbol.for("signalbox.store.error")]: true };
  expect(told(Object.assign(new Error("later"), ofAnotherCopy))).toEqual(["retry", "retry"]);
  expect(told(new FencedError("gateway", 1, "somebody else"))).toEqual(["fatal", "fatal"]);
  // It may be so because of what happens at this moment, or for ever.
  for (const code of ["conflict", "not_found", "corrupt", "busy"] as const)
    expect(told(new StoreError(code, "no"))).toEqual(["retry", "give_up"]);
});
