import { strToU8, zipSync } from "fflate";

/** Creates an Office file of parts. */
export function officeFile(parts: Readonly<Record<string, string>>): Uint8Array {
  const files = Object.entries(parts).map(([path, xml]) => [path, strToU8(`<?xml version="1.0"?>${xml}`)]);
  return zipSync(Object.fromEntries(files));
}

export function relations(targets: Readonly<Record<string, string>>): string {
  const entries = Object.entries(targets).map(
    ([id, target]) => `<Relationship Id="${id}" Target="${target}"/>`,
  );
  return `<Relationships>${entries.join("")}</Relationships>`;
}

/** Creates a Word document of the XML of its body. */
export function wordFile(body: string, more: Readonly<Record<string, string>> = {}): Uint8Array {
  return officeFile({ "word/document.xml": `<w:document><w:body>${body}</w:body></w:document>`, ...more });
}

export const paragraph = (text: string): string => `<w:p><w:r><w:t>${text}</w:t></w:r></w:p>`;

/** Creates a workbook with one sheet of the XML of its rows. */
export function excelFile(rows: string, more: Readonly<Record<string, string>> = {}): Uint8Array {
  return officeFile({
    "xl/workbook.xml": `<workbook><sheets><sheet name="Costs" r:id="rId1"/></sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": relations({ rId1: "worksheets/sheet1.xml" }),
    "xl/worksheets/sheet1.xml": `<worksheet><sheetData>${rows}</sheetData></worksheet>`,
    ...more,
  });
}
