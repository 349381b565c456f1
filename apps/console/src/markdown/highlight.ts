import "./highlight.css";
import { common, createLowlight } from "lowlight";

const lowlight = createLowlight(common);

type Root = ReturnType<typeof lowlight.highlight>;
type Node = Root["children"][number];

/** Parts of a code with the CSS class of their kind. */
export type Highlighted = readonly { text: string; kind: string | undefined }[];

/** Splits code into parts by syntax. Code of an unknown language is one part. */
export function highlight(text: string, language: string): Highlighted {
  const name = language.toLowerCase();
  if (!lowlight.registered(name)) return [{ text, kind: undefined }];
  return lowlight.highlight(name, text).children.flatMap((node) => flatten(node, undefined));
}

function flatten(node: Node, kind: string | undefined): Highlighted {
  if (node.type === "text") return [{ text: node.value, kind }];
  if (node.type !== "element") return [];
  const names = node.properties["className"];
  const own = Array.isArray(names) ? names.join(" ") : kind;
  return node.children.flatMap((child) =>
    child.type === "text" || child.type === "element" ? flatten(child, own) : [],
  );
}
