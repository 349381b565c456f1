import { describe, expect, it } from "vitest";
import { newId } from "./id.ts";

describe("newId", () => {
  it("has the form of a ULID and sorts by time", () => {
    expect(newId()).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/);
    expect(newId(0, new Uint8Array(16))).toBe("0".repeat(26));
    expect(newId(1_469_918_176_385, new Uint8Array(16)).slice(0, 10)).toBe("01ARYZ6S41");
    expect(newId(1_000) < newId(1_001)).toBe(true);
  });
});
