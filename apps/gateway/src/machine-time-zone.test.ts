import { afterEach, describe, expect, it } from "vitest";
import { getMachineTimeZone } from "./machine-time-zone.ts";

const initial = process.env.TZ;

afterEach(() => {
  if (initial === undefined) delete process.env.TZ;
  else process.env.TZ = initial;
});

describe("getMachineTimeZone", () => {
  it.each([
    ["Asia/Shanghai", "Asia/Shanghai"],
    ["Europe/Berlin", "Europe/Berlin"],
    ["UTC", "UTC"],
    ["", "UTC"],
  ])("returns the zone that TZ=%s names", (setting, name) => {
    process.env.TZ = setting;
    expect(getMachineTimeZone()).toEqual({ name });
  });

  it.each(["CST", "BST", "Asia/Beijing", "JST-9", "GMT+8"])(
    "returns UTC and a problem if TZ is %s, which Date and Intl read differently or not at all",
    (setting) => {
      process.env.TZ = setting;
      expect(getMachineTimeZone()).toEqual({
        name: "UTC",
        problem: `TZ=${setting} is not a time zone, so UTC is used`,
      });
    },
  );
});
