import { z } from "zod";
import type { ConfigPath } from "./problem.ts";

/** The keys that may stand at a place of what a schema describes; none where any may, or no mapping is. */
export function keysAt(schema: z.core.$ZodType, path: ConfigPath): readonly string[] {
  const [step, ...rest] = path;
  const plain = unwrapped(schema);
  if (plain instanceof z.ZodUnion)
    return [...new Set(plain.options.flatMap((option) => keysAt(option, path)))];
  if (step === undefined) return plain instanceof z.ZodObject ? Object.keys(plain.shape) : [];
  const inner = stepInto(plain, step);
  return inner === undefined ? [] : keysAt(inner, rest);
}

function stepInto(schema: z.core.$ZodType, step: string | number): z.core.$ZodType | undefined {
  if (schema instanceof z.ZodArray) return schema.element;
  if (schema instanceof z.ZodRecord) return schema.valueType;
  if (schema instanceof z.ZodObject) return schema.shape[step];
  return undefined;
}

/** Without what says that a value may be absent, or what then applies. */
function unwrapped(schema: z.core.$ZodType): z.core.$ZodType {
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodExactOptional ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodNullable
  )
    return unwrapped(schema.unwrap());
  return schema;
}
