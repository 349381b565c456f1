import { expect, it } from "vitest";
import { pairingCode } from "../index.ts";

it("a pairing code has eight characters, none of which is taken for another", () => {
  const everyCharacter = Array.from({ length: 32 }, (_, index) => pairingCode(() => index)[0]);
  expect(new Set(everyCharacter).size).toBe(32);
  expect(everyCharacter.join("")).not.toMatch(/[0O1I]/);
  expect(pairingCode()).toMatch(/^[A-Z2-9]{8}$/);
  expect(pairingCode()).not.toBe(pairingCode());
});
