import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { InputBlock } from "../index.ts";
import { estimateTokens } from "../tokens.ts";
import { getMaxResultChars } from "./truncate.ts";
import { truncateContent, truncateResult } from "./truncate-content.ts";

const image: InputBlock = { type: "image", mimeType: "image/png", source: { kind: "base64", data: "" } };

describe("truncateContent", () => {
  const block = (chars: number): InputBlock => ({ type: "text", text: "x".repeat(chars) });
  it("gives back the same content when it fits", () => {
    const content = [block(10), image];
    expect(truncateContent(content, 10)).toBe(content);
  });

  it("shortens the longest texts and keeps media", () => {
    const cut = truncateContent([block(100), image, block(5_000), block(9_000)], 2_100);
    expect(cut.map((entry) => (entry.type === "text" ? entry.text.length : entry.type))).toEqual([
      100,
      "image",
      998,
      998,
    ]);
  });
});

describe("a result of many parts", () => {
  const many = 300_000;
  const texts = (value: string): InputBlock[] =>
    Array.from({ length: many }, () => ({ type: "text", text: value }) as const);

  it.each([
    ["a character each", texts("x")],
    ["nothing each", texts("")],
    ["a word each", texts("word")],
    ["text and images in turn", texts("x").flatMap((block) => [block, image])],
    ["images", texts("").map(() => image)],
  ])("is as short as a result of few parts: %s", (_name, content) => {
    const cut = truncateResult(content, 64_000, 200_000);
    const size = cut.reduce((sum, block) => sum + (block.type === "text" ? block.text.length : 0), 0);
    expect(size).toBeLessThanOrEqual(64_000);
    expect(cut.length).toBeGreaterThan(0);
    expect(cut.length).toBeLessThanOrEqual(64);
  });

  it("keeps up to 64 texts separate, and joins more with line breaks", () => {
    const few = texts("x").slice(0, 64);
    expect(truncateContent(few, 64_000)).toBe(few);
    expect(truncateContent(texts("x").slice(0, 65), 64_000)).toEqual([
      { type: "text", text: Array.from({ length: 65 }, () => "x").join("\n") },
    ]);
  });
});

describe("media in a result", () => {
  const images = (count: number): InputBlock[] => Array.from({ length: count }, () => image);
  const kept = (content: readonly InputBlock[]): number => content.filter((block) => block === image).length;

  it("counts 1,600 tokens each against 30 %% of the window", () => {
    const cut = truncateResult(images(200), 16_000, 32_000);
    // 9,600 tokens, including the note.
    expect(kept(cut)).toBe(5);
    expect(cut.at(-1)).toEqual({
      type: "text",
      text: expect.stringMatching(/^\[195 images or files were left out/),
    });
    expect(truncateResult(images(6), 16_000, 32_000)).toHaveLength(6);
    expect(kept(truncateResult(images(1), 4_000, 6_000))).toBe(1);
    expect(kept(truncateResult(images(1), 4_000, 4_000))).toBe(0);
  });

  it("gets half the share next to long texts", () => {
    const cut = truncateResult([...images(20), { type: "text", text: "字".repeat(16_000) }], 16_000, 33_000);
    expect(kept(cut)).toBe(3);
    const text = cut.flatMap((block) => (block.type === "text" ? block.text : [])).join("");
    expect(estimateTokens(text)).toBeLessThanOrEqual(9_900 - 3 * 1_600);
    expect(text.length).toBeGreaterThan(3_000);
  });
});

describe("truncateResult", () => {
  const text = (value: string): InputBlock[] => [{ type: "text", text: value }];
  const tokens = (content: readonly InputBlock[]): number =>
    content.reduce((sum, block) => sum + (block.type === "text" ? estimateTokens(block.text) : 0), 0);

  it("gives back the same content when it fits", () => {
    const english = text("word ".repeat(3_000));
    expect(truncateResult(english, 16_000, 20_000)).toBe(english);
    const chinese = text("字".repeat(5_999));
    expect(truncateResult(chinese, 16_000, 20_000)).toBe(chinese);
  });

  it.each([8_000, 20_000, 100_000, 200_000, 1_000_000])(
    "leaves Chinese at most 30 %% of a window of %i",
    (window) => {
      const cut = truncateResult(text("字".repeat(100_000)), getMaxResultChars(window), window);
      expect(tokens(cut)).toBeLessThanOrEqual(window * 0.3);
      expect(tokens(cut)).toBeGreaterThan(Math.min(window * 0.25, 60_000));
      expect(cut).toMatchObject([{ text: expect.stringMatching(/characters left out: too long/) }]);
    },
  );

  it("reports the total omission of Chinese text, not that of one step", () => {
    const whole = "字".repeat(100_000);
    const [cut] = truncateResult(text(whole), 16_000, 8_000);
    const said = cut?.type === "text" ? cut.text : "";
    const [, omitted = ""] = /\[([\d,]+) characters left out/.exec(said) ?? [];
    const kept = said.match(/字/g)?.length ?? 0;
    expect(kept + Number(omitted.replaceAll(",", ""))).toBe(100_000);
  });

  it("respects the limit for any mixture, and terminates", () => {
    const piece = fc.constantFrom("word ".repeat(200), "字".repeat(400), "😀".repeat(100), "\n");
    const block = fc.array(piece, { maxLength: 60 }).map((parts) => parts.join(""));
    fc.assert(
      fc.property(
        fc.array(block, { maxLength: 4 }),
        fc.integer({ min: 400, max: 40_000 }),
        (texts, window) => {
          const cut = truncateResult(texts.flatMap(text), getMaxResultChars(window), window);
          expect(tokens(cut)).toBeLessThanOrEqual(window * 0.3 + texts.length);
        },
      ),
      { numRuns: 300 },
    );
    const many = Array.from({ length: 50 }, () => text("字字")).flat();
    expect(tokens(truncateResult(many, 100, 10))).toBeLessThanOrEqual(3);
  });
});
