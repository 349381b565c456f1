import { deflateRawSync, inflateRawSync } from "node:zlib";
import { strToU8, type Zippable, zipSync } from "fflate";
import { describe, expect, it } from "vitest";
import { unpackSkill } from "./skill-archive.ts";

const LIMITS = { files: 5, bytes: 10_000 };
const MAIN = strToU8("---\ndescription: Writes the standup.\n---\nWrite it.\n");

const unpack = (zip: Uint8Array) =>
  unpackSkill(zip, LIMITS).map(({ path, content }) => [path, Buffer.from(content).toString()]);
const refuse = (files: Zippable) => () => unpackSkill(zipSync(files), LIMITS);

/** Replaces a number in the central directory entry of the first file. */
function edit(zip: Uint8Array, offset: number, value: number): Uint8Array {
  const at = Buffer.from(zip).indexOf("PK\u0001\u0002", 0, "latin1");
  const edited = Buffer.from(zip);
  edited.writeUInt32LE(value, at + offset);
  return edited;
}

describe("the ZIP file of a skill", () => {
  it("is unpacked without its root folder, hidden files and the resource files of macOS", () => {
    const files = {
      "standup/SKILL.md": MAIN,
      "standup/scripts/": new Uint8Array(),
      "standup/scripts/run.py": [strToU8("print(1)\n"), { level: 0 }],
      "standup/.git/config": strToU8("x"),
      "__MACOSX/standup/._SKILL.md": strToU8("x"),
    } satisfies Zippable;
    const expected = [
      ["SKILL.md", Buffer.from(MAIN).toString()],
      ["scripts/run.py", "print(1)\n"],
    ];
    expect(unpack(zipSync(files))).toEqual(expected);
    expect(unpack(zipSync({ "SKILL.md": MAIN }, { comment: "made by hand" }))).toEqual([expected[0]]);
  });

  it("is refused if it has too many files, or unpacks to too much", () => {
    const many = Object.fromEntries(Array.from({ length: 6 }, (_, n) => [`${n}.md`, MAIN]));
    expect(refuse(many)).toThrow("more than 5 files");
    const bomb = zipSync({ "SKILL.md": MAIN, "bomb.txt": new Uint8Array(5_000_000) });
    expect(bomb.length).toBeLessThan(10_000);
    expect(() => unpackSkill(bomb, LIMITS)).toThrow("10 kB, unpacked");
    const stored = { "SKILL.md": MAIN, "a.txt": [new Uint8Array(10_000), { level: 0 }] } satisfies Zippable;
    expect(refuse(stored)).toThrow("10 kB, unpacked");
    const hidden = Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`.${n}`, MAIN]));
    expect(refuse(hidden)).toThrow("more than 50 entries");
  });

  it("is refused if a file is larger than it declares", () => {
    const bomb = zipSync({ "a.txt": new Uint8Array(5_000_000) });
    const before = process.memoryUsage().arrayBuffers;
    // Offset of the size in the header: APPNOTE.TXT, section 4.3.12.
    expect(() => unpackSkill(edit(bomb, 24, 100), LIMITS)).toThrow("damaged");
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1_000_000);
  });

  it("is decompressed only up to the size that a file declares", () => {
    const measure = (work: () => void): number => {
      const { user } = process.cpuUsage();
      work();
      return process.cpuUsage().user - user;
    };
    const zeros = new Uint8Array(12_000_000);
    const packed = deflateRawSync(zeros);
    const whole = measure(() => void inflateRawSync(packed));
    const bomb = edit(zipSync({ "a.bin": zeros }), 24, 1);
    const limits = { files: 5, bytes: 100_000 };
    const refused = measure(() => expect(() => unpackSkill(bomb, limits)).toThrow("damaged"));
    expect(refused).toBeLessThan(whole / 2);
  });

  it.each(["../up.md", "a/../../up.md", "/etc/passwd", "a\\..\\up.md", "C:up.md", ".hidden/../up.md"])(
    "is refused if a path leads out of it: %s",
    (path) => {
      expect(refuse({ "SKILL.md": MAIN, [path]: MAIN })).toThrow("leads out of the folder");
    },
  );

  it("is refused if it contains a link, a device or another archive", () => {
    const special = (mode: number) => [strToU8("/etc/passwd"), { os: 3, attrs: mode << 16 }] as const;
    for (const mode of [0o120_777, 0o020_666, 0o010_644])
      expect(refuse({ "SKILL.md": MAIN, "notes.md": [...special(mode)] })).toThrow(
        "notes.md is a link or a special file",
      );
    expect(refuse({ "SKILL.md": MAIN, "inner.ZIP": zipSync({ a: MAIN }) })).toThrow("archive inside");
    expect(refuse({ "SKILL.md": MAIN, "inner.tar.gz": MAIN })).toThrow("archive inside");
  });

  it("is refused if it is encrypted, compressed by an unknown method, damaged, or of another format", () => {
    const zip = zipSync({ "SKILL.md": MAIN });
    expect(() => unpackSkill(edit(zip, 8, 0x00_08_00_01), LIMITS)).toThrow("SKILL.md is encrypted");
    expect(() => unpackSkill(edit(zip, 10, 99), LIMITS)).toThrow("method that is not supported");
    expect(() => unpackSkill(edit(zip, 16, 1), LIMITS)).toThrow("damaged");
    for (const bytes of [new Uint8Array(), strToU8("x".repeat(500)), zip.subarray(0, zip.length - 30)])
      expect(() => unpackSkill(bytes, LIMITS)).toThrow("not a ZIP file");
    // Any flipped byte is refused, or the file is unpacked as it was.
    for (let at = 0; at < zip.length; at += 1) {
      const flipped = Uint8Array.from(zip, (byte, place) => (place === at ? byte ^ 0xff : byte));
      try {
        for (const { content } of unpackSkill(flipped, LIMITS))
          expect(Buffer.from(content)).toEqual(Buffer.from(MAIN));
      } catch (error) {
        expect(error).toMatchObject({ code: expect.stringMatching(/^(?:bad_request|too_large)$/) });
      }
    }
  });
});
