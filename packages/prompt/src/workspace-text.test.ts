import { describe, expect, it } from "vitest";
import { hasContent, removeComments } from "./workspace-text.ts";

describe("a workspace file", () => {
  it.each([
    "",
    "\n \n",
    "# Heartbeat\n## Daily",
    "#",
    "<!-- one\ntwo -->",
    "<!-- never closed\nx",
    "- [ ]\n*\n-",
  ])("has no content: %j", (text) => expect(hasContent(text)).toBe(false));

  it.each(["look at the mail", "# Daily\n- [ ] mail", "<!-- a --> mail <!-- b -->", "#hashtag", "-1"])(
    "says something: %j",
    (text) => expect(hasContent(text)).toBe(true),
  );

  it("loses its comments, except one that is never closed", () => {
    expect(removeComments("# a\n\n<!-- b -->\n\nc\n")).toBe("# a\n\nc\n");
    expect(removeComments("a <!-- b --> c <!-- d\n--> e <!-- f")).toBe("a  c  e <!-- f");
  });
});
