import { expect, it } from "vitest";
import { pathSegment } from "../index.ts";

it("keeps an id within its segment of a path", () => {
  expect(pathSegment("om_1/../2?a=b#c ü")).toBe("om_1%2F..%2F2%3Fa%3Db%23c%20%C3%BC");
  for (const id of ["", ".", ".."]) expect(() => pathSegment(id)).toThrow(/nothing of that id/);
  expect(new URL(`https://e.org/messages/${pathSegment("...")}/x`).pathname).toBe("/messages/.../x");
});
