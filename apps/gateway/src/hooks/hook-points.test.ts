import { expect, it } from "vitest";
import { TOOL_ARGUMENTS } from "./hook-points.ts";

it("accepts tool arguments with members that are undefined, and no values that JSON cannot hold", () => {
  const args = { path: "a", limit: undefined, filter: { tags: undefined, by: [{ name: undefined }] } };
  expect(TOOL_ARGUMENTS.parse(args)).toEqual({ path: "a", filter: { by: [{}] } });
  expect(TOOL_ARGUMENTS.safeParse({ at: new Date() }).success).toBe(false);
  expect(TOOL_ARGUMENTS.safeParse("path").success).toBe(false);
});
