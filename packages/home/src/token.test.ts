import { expect, it } from "vitest";
import { isLoopback } from "./token.ts";

it("knows addresses that only this machine reaches", () => {
  expect(["127.0.0.1", "127.9.9.9", "::1", "localhost"].every(isLoopback)).toBe(true);
  expect(["0.0.0.0", "::", "192.0.2.1", "127.0.0.1.evil.example"].some(isLoopback)).toBe(false);
});
