import { describe, expect, it } from "vitest";
import type { Capabilities, PollPart } from "../index.ts";
import { createPollOutbound } from "../index.ts";

const plain: Capabilities = {
  text: { unit: "utf16", markup: "plain" },
  stream: "none",
  threads: "none",
  delivery: {},
  rate: [],
  transports: ["poll"],
};
const withPolls = { ...plain, polls: { options: 3, questionLength: 20, optionLength: 10 } };
const poll: PollPart = { type: "poll", question: "Where to?", options: ["Lisbon", "Rome"] };

describe("createPollOutbound", () => {
  it("creates a platform poll if it is within the limits", () => {
    expect(createPollOutbound(poll, withPolls)).toEqual({ parts: [poll] });
  });

  it.each([
    ["a channel without polls", poll, plain],
    ["too many options", { ...poll, options: ["a", "b", "c", "d"] }, withPolls],
    ["a long question", { ...poll, question: "x".repeat(21) }, withPolls],
    ["a long option", { ...poll, options: ["a", "x".repeat(11)] }, withPolls],
  ])("writes a numbered list for %s", (_why, written, capabilities) => {
    const [part, ...more] = createPollOutbound(written, capabilities).parts;
    expect(more).toEqual([]);
    expect(part).toMatchObject({
      type: "text",
      text: `${written.question}\n\n1. ${written.options[0]}\n2. ${written.options[1]}${written.options
        .slice(2)
        .map((option, index) => `\n${index + 3}. ${option}`)
        .join("")}\n\nAnswer with a number.`,
    });
  });

  it("mentions in the text that several options may be chosen", () => {
    expect(JSON.stringify(createPollOutbound({ ...poll, multiple: true }, plain))).toContain(
      "one or more numbers",
    );
  });
});
