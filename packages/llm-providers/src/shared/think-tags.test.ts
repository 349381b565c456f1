import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ThinkTags } from "./think-tags.ts";

interface Split {
  readonly thinking: string;
  readonly text: string;
  /** True if a closing tag ended reasoning without an opening tag. */
  readonly unopened: boolean;
}

/** Splits an answer that arrives in chunks. */
function split(
  pieces: readonly string[],
  {
    startsThinking = false,
    complete = true,
  }: { startsThinking?: boolean | "unknown"; complete?: boolean } = {},
): Split {
  let unopened = false;
  const tags = new ThinkTags(startsThinking === "unknown" ? undefined : startsThinking, (starts) => {
    unopened ||= starts;
  });
  const said = { thinking: "", text: "" };
  for (const piece of pieces.flatMap((one) => tags.push(one)).concat(tags.end(complete))) {
    if ("kind" in piece) {
      said[piece.kind] += piece.text;
      continue;
    }
    const other = piece.became === "text" ? "thinking" : "text";
    said[piece.became] += said[other];
    said[other] = "";
  }
  return { ...said, unopened };
}

test.each([
  ["<think>\nHm.</think>\n\nYes.", "Hm.", "Yes."],
  ["  \n<think></think>Yes.", "", "Yes."],
  ["<thinking>Hm.</thinking>Yes.", "Hm.", "Yes."],
  ["[THINK]Hm.[/THINK]Yes.", "Hm.", "Yes."],
  ["<think>Hm.</think>\n<think>And?</think>Yes.", "Hm.And?", "Yes."],
  [
    "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Yes.",
    "Hm.",
    "Yes.",
  ],
  ["<|channel>thought\nHm.<channel|>Yes.", "Hm.", "Yes."],
  ["Here is my thought process: Hm.\n\nHere is my response: Yes.", " Hm.\n\n", "Yes."],
  ["Sure. Here is my response: Yes.", "", "Sure. Here is my response: Yes."],
  ["No tags <think>at the start</think>.", "", "No tags <think>at the start</think>."],
  ["<think>Hm.</think>One.\n<think>\nAnd?</think>\nTwo.", "Hm.And?", "One.\nTwo."],
  ["<think>Hm.</think>Write <think>a</think>.", "Hm.", "Write <think>a</think>."],
  ["<think>Hm.</think>So:\n```\n<think>a</think>\n```", "Hm.", "So:\n```\n<think>a</think>\n```"],
  ["One.\n<think>Hm.</think>Two.", "", "One.\n<think>Hm.</think>Two."],
  ["<thin ice", "", "<thin ice"],
  ["<thi", "", "<thi"],
  ["<think>never closed </thi", "never closed </thi", ""],
  ["<think>a</think>b</think>c", "a", "b</think>c"],
  ["", "", ""],
])("%j is split into reasoning and answer", (whole, thinking, text) => {
  expect(split([whole])).toEqual({ thinking, text, unopened: false });
});

test("a later opening tag without a closing one hides nothing", () => {
  const tags = new ThinkTags(false);
  expect([...tags.push("<think>Hm.</think>One.\n<think>\nTwo."), ...tags.end(true)]).toEqual([
    { kind: "thinking", text: "Hm." },
    { kind: "text", text: "One.\n" },
    { kind: "thinking", text: "Two." },
    { became: "text" },
  ]);
});

describe("an answer with a closing tag only", () => {
  test("is reasoning up to the tag", () => {
    const whole = "The user wants a number. So four.\n</think>\n\nFour.";
    const expected = { thinking: "The user wants a number. So four.\n", text: "Four.", unopened: true };
    expect(split([whole])).toEqual(expected);
    expect(split([...whole])).toEqual(expected);
    expect(split(["So four.</think>Four."])).toMatchObject({ thinking: "So four.", text: "Four." });
  });

  test("is reasoning if a tool call follows the tag", () => {
    expect(split(["I should look.\n</think>\n\n"], { complete: false })).toMatchObject({
      thinking: "I should look.\n",
      text: "",
    });
  });

  test.each([
    "Close it with `</think>` and go on.",
    'The tag is "</think>".',
    "```xml\n</think>\n```\nis the end.",
    "It writes <think>Hm.</think> first.",
  ])("is an answer if it only mentions the tag: %j", (whole) => {
    expect(split([whole])).toEqual({ thinking: "", text: whole, unopened: false });
    expect(split([...whole])).toEqual({ thinking: "", text: whole, unopened: false });
  });

  test("is an answer if nothing follows the tag", () => {
    expect(split(["Four.\n</think>\n"])).toMatchObject({ thinking: "", text: "Four.\n" });
  });
});

describe("the first answer of a model", () => {
  const kinds = (text: string): unknown[] => {
    const tags = new ThinkTags(undefined);
    return [...tags.push(text), ...tags.end(true)];
  };

  test("is passed on as reasoning if it begins like that, until a closing tag or the end decides", () => {
    expect(kinds("Okay, four.\n</think>\nFour.")).toEqual([
      { kind: "thinking", text: "Okay, four.\n" },
      { kind: "text", text: "Four." },
    ]);
    expect(kinds("Okay, four.")).toEqual([{ kind: "thinking", text: "Okay, four." }, { became: "text" }]);
  });

  test("is passed on as text if it begins in another way", () => {
    expect(kinds("Four.")).toEqual([{ kind: "text", text: "Four." }]);
  });

  test("shows whether later ones begin with reasoning", () => {
    const learned: boolean[] = [];
    const answer = (text: string, complete: boolean): void => {
      const tags = new ThinkTags(undefined, (starts) => learned.push(starts));
      tags.push(text);
      tags.end(complete);
    };
    answer("Okay, four.", true);
    answer("So.</think>Four.", true);
    answer("<think>So.</think>Four.", true);
    answer("Cut", false);
    expect(learned).toEqual([false, true]);
  });
});

describe("an answer of a model that starts in reasoning", () => {
  test("is reasoning from its first character, and only then the answer", () => {
    const tags = new ThinkTags(true);
    expect(tags.push("So four.\n")).toEqual([{ kind: "thinking", text: "So four.\n" }]);
    expect(tags.push("</think>\nFour.")).toEqual([{ kind: "text", text: "Four." }]);
  });

  test("is an answer after all if it ends without a tag", () => {
    expect(split(["Four."], { startsThinking: true })).toMatchObject({ thinking: "", text: "Four." });
  });

  test("stays reasoning if it is cut", () => {
    expect(split(["So fo"], { startsThinking: true, complete: false })).toMatchObject({ thinking: "So fo" });
  });

  test("may have an opening tag as well", () => {
    expect(split(["<think>Hm.</think>Yes."], { startsThinking: true })).toMatchObject({
      thinking: "Hm.",
      text: "Yes.",
    });
  });
});

test("an answer is split the same however it is cut into pieces", () => {
  const tokens = fc.constantFrom(
    "<think>",
    "</think>",
    "<",
    "</th",
    "think>",
    "\n",
    "\r\n",
    " ",
    "a",
    "🎉",
    "`",
    "Okay",
    "o",
  );
  fc.assert(
    fc.property(
      fc.array(tokens),
      fc.array(fc.nat(20)),
      fc.constantFrom(true, false, "unknown" as const),
      fc.boolean(),
      (parts, cuts, startsThinking, complete) => {
        const whole = parts.join("");
        const at = [...new Set(cuts.map((cut) => Math.min(cut, whole.length)))].sort((a, b) => a - b);
        const pieces = [...at, whole.length].map((end, i) => whole.slice(i === 0 ? 0 : at[i - 1], end));
        const how = { startsThinking, complete };
        expect(split(pieces, how)).toEqual(split([whole], how));
      },
    ),
    { numRuns: 2000 },
  );
});
