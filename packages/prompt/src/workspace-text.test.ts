import { describe, expect, it } from "vitest";
import { saysSomething, withoutComments } from "./workspace-text.ts";

describe("a workspace file", () => {
  it.each([
    "",
    "\n \n",
    "# Heartbeat\n## Daily",
    "#",
    "<!-- one\ntwo -->",
    "<!-- never closed\nx",
    "- [ ]\n*\n-",
  ])("says nothing: %j", (text) => expect(saysSomething(text)).toBe(false));

  it.each(["look at the mail", "# Daily\n- [ ] mail", "<!-- a --> mail <!-- b -->", "#hashtag", "-1"])(
    "says something: %j",
    (text) => expect(saysSomething(text)).toBe(true),
  );

  it("is told without its comments; one that is never closed is text", () => {
    expect(withoutComments("# a\n\n<!-- b -->\n\nc\n")).toBe("# a\n\nc\n");
    expect(withoutComments("a <!-- b --> c <!-- d\n--> e <!-- f")).toBe("a  c  e <!-- f");
  });
});
