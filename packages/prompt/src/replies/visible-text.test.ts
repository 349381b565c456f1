import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseTurn } from "./compose.ts";
import { createVisibleText } from "./visible-text.ts";

/** Returns what viewers see of a turn that is written in these pieces, in total and after each. */
function watch(deltas: readonly string[]): { text: string; steps: string[] } {
  const shown = createVisibleText();
  const steps = deltas.map((delta) => shown.push(delta));
  return { text: steps.join("") + shown.end(parseTurn(deltas.join("")).visible), steps };
}

describe("createVisibleText", () => {
  it("shows ordinary text at once", () => {
    expect(watch(["Hello ", "there", ", a [link](x)\n", "and `more`"]).steps.join("")).toBe(
      "Hello there, a [link](x)\nand `more`",
    );
  });

  it.each([
    ["[[reply_to_current]] hello", "hello"],
    ["[[reply_to:om_1]]hello", "hello"],
    ["see\nMEDIA: a.png\nthere", "see\nthere\n[file: a.png]"],
    ["MEDIA:https://example.com/a.png", "https://example.com/a.png"],
    ["[[audio_as_voice]]\nhi", "hi"],
    ['MEDIA:""\nthere', "there"],
    ["MEDIA: __SILENT__\nthere", "there"],
    ["write __SILENT__ for that", "write __SILENT__ for that"],
    ["so:\n```\n__SILENT__\n```", "so:\n```\n__SILENT__\n```"],
    ["a\n[[reply_to:MEDIA:x]]\nb", "a\n\nb"],
    ["__SILENT__", ""],
    ['"__SILENT__"', ""],
    ["`__SILENT__`", ""],
    ["hello\n__SILENT__", "hello"],
    ["so:\n[[reply_to_current]]__SILENT__\nis it", "so:\n__SILENT__\nis it"],
    ["```\n[[reply_to_current]]\nMEDIA: a.png\n```", "```\n[[reply_to_current]]\nMEDIA: a.png\n```"],
    ["`[[audio_as_voice]]` is how", "`[[audio_as_voice]]` is how"],
    ["Media: nothing", "Media: nothing"],
    ["MED", "MED"],
  ])("shows %j as %j, and never more while it is written", (said, seen) => {
    expect(watch([said]).text).toBe(seen);
    const { text, steps } = watch([...said]);
    expect(text).toBe(seen);
    expect(seen.startsWith(steps.join(""))).toBe(true);
  });

  it("shows the same text however it is split", () => {
    const fragment = fc.constantFrom(
      ...'[|[[|]]|`|``|```|~~~|\n|\r\n|\r| |  |MEDIA:|MEDIA: a.png\n|M|x|😀|**|"|.|\u2028'.split("|"),
      "[[reply_to_current]]",
      "[[ reply_to: om_1 ]] ",
      "[[audio_as_voice]]",
      "[[ -f x ]]",
      "words and words",
      "\n```\n",
    );
    const pieces = fc.array(
      fc.array(fragment, { maxLength: 3 }).map((parts) => parts.join("")),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(pieces, (deltas) => {
        const whole = parseTurn(deltas.join("")).visible;
        expect(watch(deltas).text).toBe(whole);
        expect(watch([...deltas.join("")]).text).toBe(whole);
      }),
      { numRuns: 3_000 },
    );
  });

  it("shows only prefixes of the final text, whatever tokens and directives it contains", () => {
    const fragment = fc.constantFrom(
      "__SILENT__",
      "__SIL",
      "ENT__",
      "[[reply_to_current]]",
      "`",
      "\n",
      " ",
      "x",
      "[[",
      "MEDIA: a\n",
    );
    fc.assert(
      fc.property(fc.array(fragment, { maxLength: 10 }), (deltas) => {
        const seen = watch(deltas).steps.join("");
        expect(
          parseTurn(deltas.join("")).visible.replace(/\s+/g, "").startsWith(seen.replace(/\s+/g, "")),
        ).toBe(true);
      }),
      { numRuns: 3_000 },
    );
  });
});
