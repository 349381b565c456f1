import fc from "fast-check";
import { expect, it } from "vitest";
import { createVault } from "./index.ts";

const said = (secrets: readonly string[], pieces: readonly string[]): string[] => {
  const stream = createVault(secrets).stream();
  return [...pieces.map((piece) => stream.push(piece)), stream.end()];
};

it("shows no part of a secret that arrives in pieces", () => {
  const shown = said(["sk-live-0123456789"], ["the key is sk", "-live", "-0123", "456789", ", I think"]);
  expect(shown).toEqual(["the key is ", "", "", "[redacted]", ", I think", ""]);
});

it("shows text that begins like a secret as soon as it differs, or at the end", () => {
  expect(said(["sk-live-0123456789"], ["sk-l", "ist", " sk-live-01"])).toEqual([
    "",
    "sk-list",
    " ",
    "sk-live-01",
  ]);
});

it("removes the longer of two secrets with the same beginning", () => {
  const secrets = ["abcabcabcabc", "abcabcabcabc-and-more"];
  expect(said(secrets, ["abcabcabcabc", "-and-more."]).join("")).toBe("[redacted].");
  expect(said(secrets, ["abcabcabcabc", "-and-less."]).join("")).toBe("[redacted]-and-less.");
});

it("removes a secret in any encoding", () => {
  const secret = "correct-horse-battery";
  const pieces = [...Buffer.from(secret).toString("hex"), " ", ...Buffer.from(secret).toString("base64")];
  expect(said([secret], pieces).join("")).toMatch(/^\[redacted\] .?.?\[redacted\].?.?.?$/);
});

it("removes a secret in capital letters and with invisible characters", () => {
  const secret = "correct-horse-battery";
  const spelled = [...secret].join("\u200b");
  expect(said([secret], ["CORRECT-HO", "RSE-BATTERY!"])).toEqual(["", "[redacted]!", ""]);
  expect(said([secret], [...spelled, "."]).join("")).toBe("[redacted].");
});

it("removes a secret with 64 invisible characters between two characters", () => {
  const secret = "correct-horse-battery";
  const spelled = [...secret].join("\u200b".repeat(64));
  expect(said([secret], [spelled, "."]).join("")).toBe("[redacted].");
  expect(said([secret], [...spelled, "."]).join("")).toBe("[redacted].");
});

it("shows a text with more invisible characters soon, in linear time", () => {
  const stream = createVault(["correct-horse-battery"]).stream();
  const piece = "\u200b".repeat(10);
  const started = performance.now();
  let shown = stream.push("c");
  for (let n = 0; n < 20_000; n++) shown += stream.push(piece);
  // Without a limit, the rescans take minutes.
  expect(performance.now() - started).toBeLessThan(10_000);
  expect(shown).toHaveLength(200_001);
});

it("does not remove short secrets", () => {
  expect(said(["postgres"], ["use post", "gres"]).join("")).toBe("use postgres");
});

it("returns the same text wherever the input is split", () => {
  // Only two letters, so that secrets overlap with each other and with the text around them.
  const word = fc.string({ unit: fc.constantFrom("a", "b"), minLength: 12, maxLength: 16 });
  const piece = fc.oneof(fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 20 }), word);
  fc.assert(
    fc.property(
      fc.array(word, { maxLength: 3 }),
      fc.array(piece),
      fc.array(fc.nat(9)),
      (secrets, parts, cuts) => {
        const text = [...secrets, ...parts].join("");
        const pieces: string[] = [];
        let at = 0;
        for (const cut of cuts) {
          pieces.push(text.slice(at, at + cut));
          at += cut;
        }
        expect(said(secrets, [...pieces, text.slice(at)]).join("")).toBe(said(secrets, [text]).join(""));
      },
    ),
    { seed: Number(process.env["SIGNALBOX_SEED"] ?? 1), numRuns: 500 },
  );
});
