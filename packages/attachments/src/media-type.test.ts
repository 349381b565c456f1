import { detectEncoding } from "@signalbox/tools";
import { expect, it } from "vitest";
import { detectMediaType, getMediaKind } from "./media-type.ts";

const typeOf = (bytes: Uint8Array, name: string | undefined) =>
  detectMediaType(bytes, name, { detectEncoding });
const latin1 = (text: string) => Buffer.from(text, "latin1");

it("detects types by content, and kinds of text by the name", async () => {
  const cases: readonly (readonly [Buffer, string | undefined, string, string])[] = [
    [latin1("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0"), "a.txt", "image/png", "png"],
    [latin1("%PDF-1.7\n"), "photo.jpg", "application/pdf", "pdf"],
    [Buffer.from("a,b\n1,2\n"), "t.csv", "text/csv", "csv"],
    [Buffer.from('{"a":1}'), "t.json", "application/json", "json"],
    [Buffer.from("const a: number = 1;"), "code.ts", "text/plain", "ts"],
    [Buffer.from("# 标题"), "读我.MD", "text/markdown", "md"],
    [Buffer.from([0xc4, 0xe3, 0xba, 0xc3, 0x2c, 0x31]), "表.csv", "text/csv", "csv"],
    [Buffer.from("words"), "a.sh/../../x", "text/plain", "txt"],
    [Buffer.from("words"), undefined, "text/plain", "txt"],
    [Buffer.from("words"), "a.exe", "text/plain", "txt"],
    [latin1("\0\x01\x02\xff\xfe"), "a.png", "application/octet-stream", "bin"],
    [Buffer.from("<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>"), "x.svg", "image/svg+xml", "svg"],
  ];
  for (const [bytes, name, mimeType, extension] of cases)
    expect([name, await typeOf(bytes, name)]).toEqual([name, { mimeType, extension }]);
});

it("counts only types without scripts as images", () => {
  expect(["image/png", "image/svg+xml", "audio/ogg", "video/mp4", "text/html"].map(getMediaKind)).toEqual([
    "image",
    "file",
    "audio",
    "video",
    "file",
  ]);
});
