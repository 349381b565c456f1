import { strToU8, zipSync } from "fflate";

const WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
const EXCEL = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

/** A document that tries to exhaust memory or time, or to read something of the machine. */
export interface HostileFile {
  readonly name: string;
  readonly mimeType: string;
  create(): Uint8Array;
}

const word = (xml: string): Uint8Array => zipSync({ "word/document.xml": strToU8(xml) }, { level: 1 });
const repeated = (text: string, count: number): string => text.repeat(count);

export const HOSTILE_FILES: readonly HostileFile[] = [
  { name: "a zip bomb", mimeType: WORD, create: () => word(repeated("x", 400_000_000)) },
  {
    name: "many zip bombs in one archive",
    mimeType: WORD,
    create() {
      const part = strToU8(repeated("x", 20_000_000));
      return zipSync(Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`word/${n}.xml`, part])), {
        level: 1,
      });
    },
  },
  {
    name: "billions of laughs",
    mimeType: WORD,
    create() {
      const levels = Array.from({ length: 12 }, (_, n) => `<!ENTITY l${n + 1} "${repeated(`&l${n};`, 10)}">`);
      return word(
        `<!DOCTYPE x [<!ENTITY l0 "lol">${levels.join("")}]><w:p><w:r><w:t>&l12;</w:t></w:r></w:p>`,
      );
    },
  },
  {
    name: "an entity that is a file of the machine",
    mimeType: WORD,
    create: () =>
      word(`<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]><w:p><w:r><w:t>&f;</w:t></w:r></w:p>`),
  },
  { name: "elements without end", mimeType: WORD, create: () => word(repeated("<w:p>", 3_000_000)) },
  {
    name: "millions of cells",
    mimeType: EXCEL,
    create: () =>
      zipSync(
        {
          "xl/workbook.xml": strToU8(`<workbook><sheets><sheet name="a" r:id="r"/></sheets></workbook>`),
          "xl/_rels/workbook.xml.rels": strToU8(`<R><Relationship Id="r" Target="s.xml"/></R>`),
          "xl/s.xml": strToU8(`<row r="1">${repeated("<c><v></v></c>", 3_000_000)}</row>`),
        },
        { level: 1 },
      ),
  },
  {
    name: "a PDF whose pages contain themselves",
    mimeType: "application/pdf",
    create: () => Buffer.from(cyclicPdf()),
  },
  {
    name: "a page of a million tags",
    mimeType: "text/html",
    create: () => Buffer.from(`<html><body>${repeated("<div><b>", 1_000_000)}`),
  },
];

/** Creates a PDF whose tree of pages has a million pages by its own account, and a cycle. */
function cyclicPdf(): string {
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1000000 >>",
    "<< /Type /Pages /Parent 2 0 R /Kids [2 0 R] /Count 1000000 >>",
  ];
  let text = "%PDF-1.7\n";
  const offsets = objects.map((object, index) => {
    const at = text.length;
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return at;
  });
  const at = text.length;
  const entries = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  return `${text}xref\n0 4\n0000000000 65535 f \n${entries}trailer << /Size 4 /Root 1 0 R >>\nstartxref\n${at}\n%%EOF`;
}
