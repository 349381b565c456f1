import { expect, it } from "vitest";
import { getDraftText } from "../index.ts";

const reply = (completed: readonly string[], current: string) => ({
  completedTexts: () => completed,
  currentText: () => current,
});

it("joins the completed turns and the current one", () => {
  expect(getDraftText(reply(["One.", "Two."], "Thr"), [])).toBe("One.\n\nTwo.\n\nThr");
});

it("hides the current text while it may repeat a text that the message tool has sent", () => {
  expect(getDraftText(reply([], "Hello th"), ["Hello there."])).toBe("");
  expect(getDraftText(reply([], "Hello the next"), ["Hello there."])).toBe("Hello the next");
});
