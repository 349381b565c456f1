import { expect, it } from "vitest";
import { toSpokenText } from "./spoken-text.ts";

it.each([
  ["marks are not read aloud", "## Plan\n\n- **First**, *eat*\n- sleep", "Plan\n\nFirst, eat\nsleep"],
  ["code blocks are not read aloud", "Run this:\n```sh\nrm -rf /\n```\nDone.", "Run this:\n\nDone."],
  ["a link is read by its label", "See [the guide](https://example.org/a?b=c).", "See the guide."],
  ["an address is not read aloud", "See https://example.org/a?b=c and www.example.org.", "See and"],
  [
    "an address as the label of a link is not read aloud",
    "[https://a.example](https://b.example) is new",
    "is new",
  ],
  ["emoji are not read aloud", "Good 👍🏽 morning 🇫🇷 ☀️", "Good morning"],
  ["HTML is not read aloud", "<script>x</script>\n\nHello", "Hello"],
  ["tables are read by row", "| a | b |\n| - | - |\n| 1 | 2 |", "a, b\n1, 2"],
  ["nothing is read aloud if only code remains", "```\n1\n```", ""],
  ["nothing is read aloud if only signs remain", "👍 …", ""],
])("%s", (_, markdown, spoken) => expect(toSpokenText(markdown, 1_500)).toBe(spoken));

it.each([
  [
    "the last sentence that fits",
    "One is here. Two is here. Three is here.",
    30,
    "One is here. Two is here.",
  ],
  ["the last Chinese sentence that fits", "第一句。第二句话。第三句话很长很长。", 12, "第一句。第二句话。"],
  ["the last word that fits", "one two three four five six", 12, "one two"],
  ["the limit in a text without spaces", "啊".repeat(30), 10, "啊".repeat(10)],
  ["a whole character", `${"a".repeat(9)}𝒳${"b".repeat(20)}`, 10, "a".repeat(9)],
])("a long text ends after %s", (_, text, max, spoken) => expect(toSpokenText(text, max)).toBe(spoken));
