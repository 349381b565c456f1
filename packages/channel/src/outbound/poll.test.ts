import { describe, expect, it } from "vitest";
import type { Capabilities, PollPart } from "../index.ts";
import { pollOutbound } from "../index.ts";

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

describe("a poll", () => {
  it("is the platform's own where it has polls of that size", () => {
    expect(pollOutbound(poll, withPolls)).toEqual({ parts: [poll] });
  });

  it.each([
    ["a channel without polls", poll, plain],
    ["too many options", { ...poll, options: ["a", "b", "c", "d"] }, withPolls],
    ["a long question", { ...poll, question: "x".repeat(21) }, withPolls],
    ["a long option", { ...poll, options: ["a", "x".repeat(11)] }, withPolls],
  ])("is written as numbered text for %s", (_why, written, capabilities) => {
    const [part, ...more] = pollOutbound(written, capabilities).parts;
    expect(more).toEqual([]);
    expect(part).toMatchObject({
      type: "text",
      text: `${written.question}\n\n1. ${written.options[0]}\n2. ${written.options[1]}${written.options
        .slice(2)
        .map((option, index) => `\n${index + 3}. ${option}`)
        .join("")}\n\nAnswer with a number.`,
    });
  });

  it("says in text that one may choose several", () => {
    expect(JSON.stringify(pollOutbound({ ...poll, multiple: true }, plain))).toContain("one or more numbers");
  });
});
