import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseReply, SILENT_TOKEN } from "../index.ts";
import { createSilenceFilter } from "./silence.ts";

describe("silence", () => {
  test.each([
    SILENT_TOKEN,
    `\n ${SILENT_TOKEN}\n`,
    `\`${SILENT_TOKEN}\``,
    `**${SILENT_TOKEN}**`,
    `"${SILENT_TOKEN}"`,
  ])("%j is silent", (text) => {
    expect(parseReply(text)).toEqual({ text: "", silent: true, media: [], audioAsVoice: false });
  });

  test("removes a token on the first or last line and keeps the text", () => {
    expect(parseReply(`Here you are.\n\n${SILENT_TOKEN}\n`)).toMatchObject({
      text: "Here you are.",
      silent: false,
    });
    expect(parseReply(`${SILENT_TOKEN}\nHere`)).toMatchObject({ text: "Here", silent: false });
  });

  test.each([
    "Write __SILENT__ when no reply is called for.",
    "The token is `__SILENT__`.",
    "It is called __SILENT__",
    "__SILENT__ is a token",
    "Like this:\n```\n__SILENT__\n```",
    "First\n__SILENT__\nlast",
  ])("keeps a token in the middle of a text: %j", (text) => {
    expect(parseReply(text)).toMatchObject({ text, silent: false });
  });

  test("is not silent with an attachment", () => {
    expect(parseReply(`${SILENT_TOKEN}\nMEDIA: a.png`)).toMatchObject({ silent: false, media: ["a.png"] });
  });

  test("an empty reply is not silent", () => {
    expect(parseReply("")).toMatchObject({ text: "", silent: false });
  });
});

describe("directives", () => {
  test("removes media lines and returns each source once", () => {
    expect(
      parseReply("Done:\nMEDIA: out/a b.png\nMEDIA:https://x.test/y.mp3\nMEDIA: out/a b.png\nBye"),
    ).toMatchObject({
      text: "Done:\nBye",
      media: ["out/a b.png", "https://x.test/y.mp3"],
    });
    expect(parseReply('MEDIA: "a.png"').media).toEqual(["a.png"]);
  });

  test("ignores directives in code", () => {
    const text =
      "```text\nMEDIA: a.png\n[[audio_as_voice]]\n```\n`[[reply_to_current]]` and `MEDIA: b`\n~~~\nMEDIA: c\n```\nMEDIA: d\n~~~";
    expect(parseReply(text)).toEqual({ text, silent: false, media: [], audioAsVoice: false });
  });

  test("ignores directives in indented code and in code in lists", () => {
    const text =
      "- Write:\n\n    ```yaml\n    MEDIA: a.png\n    ```\n\n1. Or:\n\n       MEDIA: b.png\n\n\tMEDIA: c.png";
    expect(parseReply(text)).toMatchObject({ text, media: [] });
    expect(parseReply("   MEDIA: d.png").media).toEqual(["d.png"]);
  });

  test("reads directives again after the matching end of a fence", () => {
    expect(parseReply("````\n```\nMEDIA: a\n````\nMEDIA: b").media).toEqual(["b"]);
  });

  test("keeps MEDIA in prose or emphasis as text", () => {
    expect(parseReply("see MEDIA: a.png").media).toEqual([]);
    expect(parseReply("**MEDIA: a.png**").media).toEqual([]);
    expect(parseReply("MEDIA:").media).toEqual([]);
  });

  test("uses the first reply directive and removes all of them", () => {
    expect(parseReply("[[reply_to_current]] Sure")).toMatchObject({ text: "Sure", replyTo: "current" });
    expect(parseReply("[[ reply_to: om_1 ]]Sure [[reply_to_current]]")).toMatchObject({
      text: "Sure",
      replyTo: { id: "om_1" },
    });
    expect(parseReply("Sure").replyTo).toBeUndefined();
  });

  test("parses adversarial text in linear time", () => {
    for (const piece of ["`", "` ", "`a``b", "[[", "[[ ", "MEDIA: ", " ", "\n", "_", "__SIL", "~~~\n"]) {
      expect(parseReply(`x${piece.repeat(300_000 / piece.length)}`).silent).toBe(false);
    }
  });

  test("reads the voice note directive", () => {
    expect(parseReply("[[audio_as_voice]]\nMEDIA: hi.ogg")).toEqual({
      text: "",
      silent: false,
      media: ["hi.ogg"],
      audioAsVoice: true,
    });
  });
});

describe("createSilenceFilter", () => {
  const filtered = (pieces: readonly string[]): string[] => {
    const filter = createSilenceFilter();
    return [...pieces.map((piece) => filter.push(piece)), filter.end()];
  };
  const fragment = fc.constantFrom(
    "__SILENT__",
    "__SIL",
    "ENT__",
    "__",
    "_",
    "SILENT",
    " ",
    "\n",
    "a",
    "文",
    "😀",
    "__SILENT",
  );
  const reply = fc.array(fragment, { maxLength: 14 }).map((parts) => parts.join(""));

  test("returns the same text however it is split, and never text that has to be retracted", () => {
    fc.assert(
      fc.property(reply, fc.array(fc.nat(60), { maxLength: 8 }), (text, cuts) => {
        const at = [0, ...cuts.map((cut) => Math.min(cut, text.length)).sort((a, b) => a - b), text.length];
        const pieces = at.slice(1).map((end, i) => text.slice(at[i], end));
        const out = filtered(pieces);
        const whole = out.join("");
        expect(whole).toBe(filtered([text]).join(""));
        expect(filtered([...text]).join("")).toBe(whole);
        expect(whole).toBe(whole.trim());
        if (!text.includes(SILENT_TOKEN)) expect(whole).toBe(text.trim());
        expect(parseReply(text).text).toBe(whole);
      }),
      { numRuns: 2_000 },
    );
  });

  test("returns ordinary text at once and holds back a possible token", () => {
    expect(filtered(["Hel", "lo", " wor", "ld"])).toEqual(["Hel", "lo", " wor", "ld", ""]);
    expect(filtered(["__SI", "LENT__"])).toEqual(["", "", ""]);
    expect(filtered(["__SI", "DE__ note"])).toEqual(["", "__SIDE__ note", ""]);
    expect(filtered(["ok\n", "__SILENT_"])).toEqual(["ok", "", "\n__SILENT_"]);
    expect(filtered(["ok\n", "__SILENT__", "\nmore"])).toEqual(["ok", "", "\n__SILENT__\nmore", ""]);
  });
});
