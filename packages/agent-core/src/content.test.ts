import { expect, test } from "vitest";
import { textOf } from "./content.ts";

test("textOf returns only the text of a content", () => {
  const source = { kind: "url", url: "https://example.org/cat.png" } as const;
  const content = [
    { type: "text", text: "one" },
    { type: "image", mimeType: "image/png", source },
    { type: "text", text: "" },
    { type: "text", text: "two" },
  ] as const;
  expect(textOf(content)).toBe("onetwo");
  expect(textOf(content, "\n")).toBe("one\ntwo");
  expect(textOf("a text")).toBe("a text");
});
