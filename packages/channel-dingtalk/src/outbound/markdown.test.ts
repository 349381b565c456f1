import { expect, it } from "vitest";
import { escapeMarkdown } from "./markdown.ts";

it("escapes lists of a plain text, also after blank lines", () => {
  expect(escapeMarkdown("\n  - a\n1. b\n-c")).toBe("  \n  \\- a  \n\\1. b  \n-c");
});

it("escapes a long row of line breaks quickly", () => {
  const { user } = process.cpuUsage();
  escapeMarkdown(`a${"\n".repeat(60_000)}b`);
  // In microseconds. A search from each line break takes some seconds.
  expect(process.cpuUsage().user - user).toBeLessThan(1_000_000);
});
