import { expect, it } from "vitest";
import { draftText } from "../index.ts";

const answer = (ended: readonly string[], current: string) => ({
  ended: () => ended,
  current: () => current,
});

it("has what was said, then what is being written", () => {
  expect(draftText(answer(["One.", "Two."], "Thr"), [])).toBe("One.\n\nTwo.\n\nThr");
});

it("says nothing again that the message tool has sent, as long as it may be that", () => {
  expect(draftText(answer([], "Hello th"), ["Hello there."])).toBe("");
  expect(draftText(answer([], "Hello the next"), ["Hello there."])).toBe("Hello the next");
});
