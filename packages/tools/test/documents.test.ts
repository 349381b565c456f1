import { strToU8, zipSync } from "fflate";
import { expect, it } from "vitest";
import { openOfficePackage } from "../src/documents/package-reader.ts";
import { extractDocumentText } from "../src/index.ts";
import { excelFile, officeFile, paragraph, relations, wordFile } from "./office-files.ts";

const WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
const EXCEL = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
const POWERPOINT = "application/vnd.openxmlformats-officedocument.presentationml.presentation";

it("reads headings, lists, tables and footnotes of a Word document, without deleted text", async () => {
  const style = (name: string) => `<w:pPr><w:pStyle w:val="${name}"/></w:pPr>`;
  const file = wordFile(
    [
      `<w:p>${style("Heading2")}<w:r><w:t>Plan &amp; costs</w:t></w:r></w:p>`,
      `<w:p><w:pPr><w:tabs><w:tab w:pos="720"/></w:tabs><w:numPr/></w:pPr><w:r><w:t>first</w:t><w:tab/><w:t>x</w:t></w:r></w:p>`,
      `<w:p><w:del><w:r><w:delText>secret</w:delText></w:r></w:del><w:r><w:t xml:space="preserve">kept </w:t></w:r><w:r><w:t>text</w:t></w:r></w:p>`,
      `<w:tbl><w:tr><w:tc>${paragraph("a")}${paragraph("b")}</w:tc><w:tc>${paragraph("c")}</w:tc></w:tr></w:tbl>`,
      `<mc:AlternateContent><mc:Choice>${paragraph("once")}</mc:Choice><mc:Fallback>${paragraph("once")}</mc:Fallback></mc:AlternateContent>`,
    ].join(""),
    { "word/footnotes.xml": `<w:footnotes><w:footnote>${paragraph("a note")}</w:footnote></w:footnotes>` },
  );
  expect(await extractDocumentText(file, WORD)).toEqual({
    text: "## Plan & costs\n- first\tx\nkept text\n| a b | c |\nonce\n\n[footnotes]\na note",
    cut: false,
  });
});

it("reads the sheets of a workbook with texts, numbers, dates and gaps", async () => {
  const file = excelFile(
    [
      `<row r="1"><c r="A1" t="s"><v>0</v></c><c r="C1" t="inlineStr"><is><t>in line</t></is></c></row>`,
      `<row r="2"><c r="A2" s="1"><v>45992</v></c><c r="B2"><v>12.5</v></c><c r="C2" t="b"><v>1</v></c></row>`,
      `<row r="9"><c r="A9" s="2"><v>45992.75</v></c></row>`,
    ].join(""),
    {
      "xl/sharedStrings.xml": `<sst><si><r><t>Ti</t></r><r><t>tle</t></r><rPh><t>sound</t></rPh></si></sst>`,
      "xl/styles.xml": `<styleSheet><numFmts><numFmt numFmtId="164" formatCode="dd/mm/yy hh:mm"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/></cellXfs></styleSheet>`,
    },
  );
  expect((await extractDocumentText(file, EXCEL))?.text).toBe(
    "[sheet Costs]\n1 | Title |  | in line |\n2 | 2025-12-01 | 12.5 | TRUE |\n…\n9 | 2025-12-01 18:00 |",
  );
});

it("reads slides in the order of the presentation, with their notes", async () => {
  const slide = (text: string) => `<p:sld><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p:sld>`;
  const file = officeFile({
    "ppt/presentation.xml": `<p:presentation><p:sldIdLst><p:sldId r:id="r2"/><p:sldId r:id="r1"/></p:sldIdLst></p:presentation>`,
    "ppt/_rels/presentation.xml.rels": relations({ r1: "slides/slide1.xml", r2: "slides/slide2.xml" }),
    "ppt/slides/slide1.xml": slide("end"),
    "ppt/slides/slide2.xml": slide("start"),
    "ppt/slides/_rels/slide2.xml.rels": relations({ r1: "../notesSlides/notesSlide1.xml" }),
    "ppt/notesSlides/notesSlide1.xml": slide("say hello"),
  });
  expect((await extractDocumentText(file, POWERPOINT))?.text).toBe(
    "[slide 1 of 2]\nstart\n[notes]\nsay hello\n\n[slide 2 of 2]\nend",
  );
});

it("reads an HTML page without scripts", async () => {
  const html = `<html><body><h1>Report</h1><p>${"The numbers are good. ".repeat(20)}</p><script>evil()</script></body></html>`;
  const read = await extractDocumentText(Buffer.from(html), "text/html");
  expect(read?.text).toContain("The numbers are good.");
  expect(read?.text).not.toContain("evil");
});

it("cuts a long document at the limit", async () => {
  const file = wordFile(paragraph("word ".repeat(100)).repeat(500));
  const read = await extractDocumentText(file, WORD, { maxChars: 1_000 });
  expect(read?.cut).toBe(true);
  expect(read?.text.length).toBeLessThanOrEqual(1_000);
});

it.each([
  ["a zip bomb", () => officeFile({ "word/document.xml": "x".repeat(51_000_000) })],
  ["a zip bomb that declares a small size", () => withSmallSizes(wordFile(paragraph("y".repeat(3_000_000))))],
  [
    "too many parts",
    () => officeFile(Object.fromEntries(Array.from({ length: 2_100 }, (_, n) => [`a${n}.xml`, ""]))),
  ],
  ["elements without end", () => wordFile("<w:p>".repeat(100_000))],
  ["a damaged archive", () => wordFile(paragraph("x")).subarray(0, 60)],
  ["no archive", () => Buffer.from("not a document")],
])("returns nothing for %s", async (_, create) => {
  const read = await extractDocumentText(create(), WORD, { timeoutMs: 60_000 });
  expect((read?.text.length ?? 0) < 1_000).toBe(true);
});

it("expands no entities and fetches nothing", async () => {
  const bomb = `<!DOCTYPE x [<!ENTITY a "${"lol".repeat(100)}"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY f SYSTEM "file:///etc/passwd">]>`;
  const file = officeFile({ "word/document.xml": `${bomb}<w:document>${paragraph("&b;&f;")}</w:document>` });
  expect((await extractDocumentText(file, WORD))?.text).toBe("&b;&f;");
});

it("ends a document that takes too long", async () => {
  const file = excelFile(`<row r="1">${`<c r="A1"><v>1</v></c>`.repeat(500_000)}</row>`);
  expect(await extractDocumentText(file, EXCEL, { timeoutMs: 1 })).toBeUndefined();
});

it("refuses parts that share one large uncompressed body and declare no size", () => {
  const body = strToU8("x".repeat(1_000_000));
  const names = Array.from({ length: 60 }, (_, index) => `word/a${index}.xml`);
  const archive = zipSync({ "word/document.xml": body }, { level: 0 });
  expect(() => openOfficePackage(withSharedBody(archive, names))).toThrow("too large when decompressed");
});

/** Replaces the directory of an archive with entries that all refer to its first part and declare the size 0. */
function withSharedBody(archive: Uint8Array, names: readonly string[]): Uint8Array {
  const bytes = Buffer.from(archive);
  const start = bytes.lastIndexOf("PK\u0001\u0002");
  const entry = bytes.subarray(start, start + 46);
  const end = Buffer.from(bytes.subarray(bytes.lastIndexOf("PK\u0005\u0006")));
  const directory = names.map((name) => {
    const header = Buffer.from(entry);
    header.writeUInt32LE(0, 24);
    header.writeUInt16LE(name.length, 28);
    return Buffer.concat([header, Buffer.from(name)]);
  });
  end.writeUInt16LE(names.length, 8);
  end.writeUInt16LE(names.length, 10);
  return Buffer.concat([bytes.subarray(0, start), ...directory, end]);
}

/** Changes the sizes in the directory of an archive, which are at offset 24 of each entry. */
function withSmallSizes(archive: Uint8Array): Uint8Array {
  const bytes = Buffer.from(archive);
  for (let at = bytes.indexOf("PK\u0001\u0002"); at >= 0; at = bytes.indexOf("PK\u0001\u0002", at + 4))
    bytes.writeUInt32LE(10, at + 24);
  return bytes;
}
