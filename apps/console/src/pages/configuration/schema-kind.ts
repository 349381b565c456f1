import { isRecord } from "./edits.ts";

/** The control that edits a value. */
export type Kind =
  | { readonly kind: "section"; readonly fields: readonly (readonly [string, Schema])[] }
  | { readonly kind: "entries"; readonly entry: Schema }
  | { readonly kind: "list"; readonly item: Schema }
  | { readonly kind: "texts" }
  | { readonly kind: "choice"; readonly values: readonly string[] }
  | { readonly kind: "flag" | "number" | "text" | "secret" | "json" };

/** A part of a JSON Schema. */
export type Schema = Readonly<Record<string, unknown>>;

/** Determines the control for a value from its schema. Values that need several kinds are edited as JSON. */
export function getKind(schema: Schema): Kind {
  const { type, properties, additionalProperties, items, anyOf, enum: values } = schema;
  if (Array.isArray(values) && values.every((value) => typeof value === "string"))
    return { kind: "choice", values };
  if (Array.isArray(anyOf)) return getKindOfUnion(anyOf.filter(isRecord));
  if (type === "boolean") return { kind: "flag" };
  if (type === "integer" || type === "number") return { kind: "number" };
  if (type === "string") return { kind: "text" };
  if (type === "array" && isRecord(items))
    return items["type"] === "string" ? { kind: "texts" } : { kind: "list", item: items };
  if (isRecord(properties))
    return {
      kind: "section",
      fields: Object.entries(properties).flatMap(([name, field]) =>
        isRecord(field) ? [[name, field] as const] : [],
      ),
    };
  if (isRecord(additionalProperties) && Object.keys(additionalProperties).length > 0)
    return { kind: "entries", entry: additionalProperties };
  return { kind: "json" };
}

function getKindOfUnion(options: readonly Schema[]): Kind {
  const isReference = options.some((option) => {
    const kinds = option["oneOf"];
    return Array.isArray(kinds) && kinds.some((each) => isRecord(each) && "properties" in each);
  });
  const texts = options.filter(({ type }) => type === "string");
  // A secret is a text, or a reference to a file or a program.
  if (isReference && texts.length > 0) return { kind: "secret" };
  const [only] = options;
  return options.length === 1 && only !== undefined ? getKind(only) : { kind: "json" };
}
