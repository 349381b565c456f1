import type { OfficePackage } from "./package-reader.ts";
import { writeParagraphs } from "./paragraphs.ts";
import type { TextOutput } from "./text-output.ts";
import { readRelations, readXml } from "./xml.ts";

/** Writes the text of a presentation slide by slide, with the notes of each slide. */
export function writePowerpoint(file: OfficePackage, output: TextOutput): void {
  const parts = readRelations(file.read("ppt/_rels/presentation.xml.rels"), "ppt");
  const slides: string[] = [];
  readXml(file.read("ppt/presentation.xml"), {
    open(name, attributes) {
      const path = name === "sldId" ? parts.get(attributes["r:id"] ?? "") : undefined;
      if (path !== undefined) slides.push(path);
    },
  });
  for (const [index, path] of slides.entries()) {
    output.add(`[slide ${index + 1} of ${slides.length}]\n`);
    writeParagraphs(file.read(path), output);
    const slash = path.lastIndexOf("/");
    const [folder, name] = [path.slice(0, slash), path.slice(slash + 1)];
    const notes = [...readRelations(file.read(`${folder}/_rels/${name}.rels`), folder).values()].find(
      (target) => target.includes("notesSlide"),
    );
    if (notes !== undefined) {
      output.add("[notes]\n");
      writeParagraphs(file.read(notes), output);
    }
    output.add("\n");
  }
}
