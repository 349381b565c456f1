import { expect, it } from "vitest";
import { createPairingCode } from "../index.ts";

it("creates codes of eight characters that cannot be confused with each other", () => {
  const everyCharacter = Array.from({ length: 32 }, (_, index) => createPairingCode(() => index)[0]);
  expect(new Set(everyCharacter).size).toBe(32);
  expect(everyCharacter.join("")).not.toMatch(/[0O1I]/);
  expect(createPairingCode()).toMatch(/^[A-Z2-9]{8}$/);
  expect(createPairingCode()).not.toBe(createPairingCode());
});
