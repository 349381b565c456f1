import { Parser } from "htmlparser2";

/** Handlers for the events of an XML document. Names have no prefix: `t` for `w:t`. */
export interface XmlHandlers {
  open?(name: string, attributes: Readonly<Record<string, string>>): void;
  text?(text: string): void;
  close?(name: string): void;
}

/** Maximum nesting of elements. */
const MAX_DEPTH = 256;

/**
 * Reads an XML document. Entities of the document itself are not expanded, and nothing is fetched.
 *
 * @throws Error if elements are nested too deeply
 */
export function readXml(xml: string, handlers: XmlHandlers): void {
  let depth = 0;
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        depth += 1;
        if (depth > MAX_DEPTH) throw new Error("the document is nested too deeply");
        handlers.open?.(localName(name), attributes);
      },
      ontext: (text) => handlers.text?.(text),
      onclosetag(name) {
        depth -= 1;
        handlers.close?.(localName(name));
      },
    },
    { xmlMode: true, decodeEntities: true },
  );
  parser.write(xml);
  parser.end();
}

function localName(name: string): string {
  return name.slice(name.indexOf(":") + 1);
}

/** Reads the relations of a part: the target of each id, relative to the folder of the part. */
export function readRelations(xml: string, folder: string): Map<string, string> {
  const relations = new Map<string, string>();
  readXml(xml, {
    open(name, { Id: id, Target: target }) {
      if (name !== "Relationship" || id === undefined || target === undefined) return;
      const path = new URL(target, `file:///${folder}/`).pathname.slice(1);
      relations.set(id, path);
    },
  });
  return relations;
}
