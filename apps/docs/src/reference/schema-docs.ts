import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../pages.ts";

/** Comments of an exported schema and its fields. */
export interface SchemaDoc {
  readonly summary: string | undefined;
  readonly fields: ReadonlyMap<string, string>;
}

/** Reads the comments of the schemas in the sources of the protocol, by the name of the schema. */
export function readSchemaDocs(): ReadonlyMap<string, SchemaDoc> {
  const docs = new Map<string, SchemaDoc>();
  for (const file of globSync("packages/protocol/src/*.ts", { cwd: ROOT })) {
    let comment: string | undefined;
    let fields: Map<string, string> | undefined;
    for (const { text, isComment } of splitComments(readFileSync(join(ROOT, file), "utf8"))) {
      if (isComment) {
        comment = text;
        continue;
      }
      const name = /^export const (\w+) =/.exec(text)?.[1];
      // Fields of an exported object have an indentation of two spaces.
      const field = /^ {2}(\w+): /.exec(text)?.[1];
      if (name !== undefined) {
        fields = new Map();
        docs.set(name, { summary: comment, fields });
      } else if (field !== undefined && comment !== undefined) fields?.set(field, comment);
      comment = undefined;
    }
  }
  return docs;
}

/** Splits a source into comments, as one line of text, and lines of code. */
function splitComments(source: string): SourcePart[] {
  const parts = source.split(/^(\s*\/\*\*[\s\S]*?\*\/)\n/m);
  return parts.flatMap((part): SourcePart[] => {
    if (!/^\s*\/\*\*/.test(part)) return part.split("\n").map((text) => ({ text, isComment: false }));
    const text = part
      .replace(/^\s*\/\*\*|\*\/$/g, "")
      .replace(/^\s*\* ?/gm, "")
      .replace(/\{@link (\w+)\}/g, "`$1`")
      .replace(/\s+/g, " ")
      .trim();
    return [{ text, isComment: true }];
  });
}

interface SourcePart {
  readonly text: string;
  readonly isComment: boolean;
}
