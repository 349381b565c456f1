import { expect, it } from "vitest";
import { readPost } from "./post.ts";

const read = (...texts: [text: string, style?: string][]) =>
  readPost({ content: [texts.map(([text, ...style]) => ({ tag: "text", text, style }))] })?.text;

it("keeps the spaces around styled words outside of the marks", () => {
  expect(read(["a bold  word", "bold"])).toBe("**a bold  word**");
  expect(read(["a "], [" b ", "italic"], ["c"])).toBe("a  *b* c");
});

it("reads a long row of spaces between styled words quickly", () => {
  const { user } = process.cpuUsage();
  read([`a${" ".repeat(60_000)}b`, "bold"]);
  // In microseconds. A search from each space takes some seconds.
  expect(process.cpuUsage().user - user).toBeLessThan(1_000_000);
});
