import { expect, it } from "vitest";
import { encodePathSegment } from "../index.ts";

it("encodes an id so that it stays within its path segment", () => {
  expect(encodePathSegment("om_1/../2?a=b#c ü")).toBe("om_1%2F..%2F2%3Fa%3Db%23c%20%C3%BC");
  for (const id of ["", ".", ".."]) expect(() => encodePathSegment(id)).toThrow(/nothing with this id/);
  expect(new URL(`https://e.org/messages/${encodePathSegment("...")}/x`).pathname).toBe("/messages/.../x");
});
