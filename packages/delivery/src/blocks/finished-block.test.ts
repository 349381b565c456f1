import { expect, it } from "vitest";
import { type BlockRules, getFinishedBlockLength } from "./finished-block.ts";
import { getRemainingText } from "./remaining-text.ts";

const RULES: BlockRules = { minChars: 20, maxChars: 60, breakAt: "paragraph" };

/** Cuts a complete text into its blocks and the rest. */
function cut(text: string, rules: Partial<BlockRules> = {}, isIdle = false): string[] {
  const blocks: string[] = [];
  for (;;) {
    const { text: rest } = getRemainingText(text, blocks);
    const length = getFinishedBlockLength(rest, { ...RULES, ...rules }, isIdle);
    if (length === 0) return rest === "" ? blocks : [...blocks, rest];
    blocks.push(rest.slice(0, length).trimEnd());
  }
}

it("cuts after as many paragraphs as fit into a block", () => {
  const text = "The first paragraph here.\n\nThe second one, too.\n\nAnd a third that goes on for longer.";
  expect(cut(text)).toEqual([
    "The first paragraph here.\n\nThe second one, too.",
    "And a third that goes on for longer.",
  ]);
});

it("waits for more text unless the writing pauses", () => {
  const text = "The first paragraph here.\n\nThe sec";
  expect(getFinishedBlockLength(text, RULES, false)).toBe(0);
  expect(getFinishedBlockLength(text, RULES, true)).toBe("The first paragraph here.".length);
  expect(getFinishedBlockLength("Too short.\n\nThe sec", RULES, true)).toBe(0);
});

it("falls back to lines, sentences and words if a block is full, but not on a pause", () => {
  const sentences = "One sentence is here. Another one follows it. And a third one at the end of it.";
  expect(cut(sentences)).toEqual([
    "One sentence is here. Another one follows it.",
    "And a third one at the end of it.",
  ]);
  expect(cut("one two three four five six seven eight nine ten eleven twelve thirteen")).toEqual([
    "one two three four five six seven eight nine ten eleven",
    "twelve thirteen",
  ]);
  expect(getFinishedBlockLength("One sentence is here. Another one", RULES, true)).toBe(0);
  expect(
    getFinishedBlockLength("One sentence is here. Another one", { ...RULES, breakAt: "sentence" }, true),
  ).toBe(21);
});

it("cuts Chinese between sentences", () => {
  const text = "第一句话写在这里,讲了一点东西。第二句话也写在这里,再讲一点。".repeat(3);
  for (const block of cut(text).slice(0, -1)) expect(block).toMatch(/。$/);
  expect(cut(text).join("")).toBe(text);
});

it("does not cut code blocks and tables, however long they are", () => {
  const code = `Look at this code:\n\n\`\`\`ts\n${"const a = 1;\n\n".repeat(8)}\`\`\`\n\nThat was it.`;
  expect(cut(code)).toEqual([code.slice(0, code.indexOf("\n\nThat")), "That was it."]);
  const open = code.slice(0, 100);
  expect(getFinishedBlockLength(open, RULES, true)).toBe(0);
  const table = `| a | b |\n|---|---|\n${"| one. two | three |\n".repeat(6)}\nBehind the table.`;
  expect(cut(table)).toEqual([table.slice(0, table.indexOf("\n\nBehind")), "Behind the table."]);
});

it("does not cut inline code, links and strong text", () => {
  const link = "[a label with many words. And more](https://example.org/a b)";
  expect(cut(`See this one ${link} for all of it`)).toEqual([`See this one ${link}`, "for all of it"]);
});

it("returns the text from where it differs from the blocks", () => {
  const blocks = ["First.", "Second."];
  expect(getRemainingText("First.\n\nSecond.\n\n  third", blocks)).toEqual({
    text: "  third",
    continues: true,
  });
  expect(getRemainingText("First.\n\nAnother second.", blocks)).toEqual({
    text: "Another second.",
    continues: false,
  });
  expect(getRemainingText("First.", blocks)).toEqual({ text: "", continues: false });
});

it.each([".", "[", "[x](", "`a` ", "**", "!"])("finds a place in a long row of %j quickly", (mark) => {
  const text = `${mark.repeat(40_000 / mark.length)}x`;
  const { user } = process.cpuUsage();
  getFinishedBlockLength(text, RULES, false);
  // In microseconds. A search from each mark takes some seconds.
  expect(process.cpuUsage().user - user).toBeLessThan(1_000_000);
});

it("does not cut inside a link whose address contains brackets", () => {
  const link = "[the article](https://example.org/a_(b) 'a long title of it')";
  expect(cut(`Read more about all of this in ${link} and elsewhere.`)[1]).toContain(link);
});
