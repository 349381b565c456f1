import { z } from "zod";
import type { ConfigPath } from "./problem.ts";

/** Returns the keys that a schema allows at a path; none if it allows any, or no mapping. */
export function getKeysAt(schema: z.core.$ZodType, path: ConfigPath): readonly string[] {
  const [step, ...rest] = path;
  const plain = unwrap(schema);
  if (plain instanceof z.ZodUnion)
    return [...new Set(plain.options.flatMap((option) => getKeysAt(option, path)))];
  if (step === undefined) return plain instanceof z.ZodObject ? Object.keys(plain.shape) : [];
  const inner = stepInto(plain, step);
  return inner === undefined ? [] : getKeysAt(inner, rest);
}

function stepInto(schema: z.core.$ZodType, step: string | number): z.core.$ZodType | undefined {
  if (schema instanceof z.ZodArray) return schema.element;
  if (schema instanceof z.ZodRecord) return schema.valueType;
  if (schema instanceof z.ZodObject) return schema.shape[step];
  return undefined;
}

/** Removes wrappers such as optional and default. */
function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodExactOptional ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodNullable
  )
    return unwrap(schema.unwrap());
  return schema;
}
