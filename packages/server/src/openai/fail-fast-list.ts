import { z } from "zod";

/**
 * A schema for arrays that stops at the first invalid element. `z.array` validates all elements, and a body of 10 MB
 * can contain millions.
 */
export function list<Element extends z.ZodType>(
  element: Element,
  { min = 0, max = Number.POSITIVE_INFINITY }: { readonly min?: number; readonly max?: number } = {},
): z.ZodPipe<z.ZodUnknown, z.ZodTransform<z.output<Element>[], unknown>> {
  return z.unknown().transform((value, context) => {
    if (!Array.isArray(value) || value.length < min || value.length > max) {
      const size = [...(min > 0 ? [`at least ${min}`] : []), ...(max < Infinity ? [`at most ${max}`] : [])];
      const message = size.length === 0 ? "expected a list" : `expected a list of ${size.join(" and ")}`;
      context.issues.push({ code: "custom", message, input: value });
      return z.NEVER;
    }
    const elements: z.output<Element>[] = [];
    for (const [index, item] of value.entries()) {
      const parsed = element.safeParse(item);
      if (!parsed.success) {
        context.issues.push(firstIssue(parsed.error, index, item));
        return z.NEVER;
      }
      elements.push(parsed.data);
    }
    return elements;
  });
}

function firstIssue(
  error: z.ZodError,
  index: number,
  input: unknown,
): z.core.$ZodRawIssue<z.core.$ZodIssueCustom> {
  const [issue] = error.issues;
  const path: PropertyKey[] = [index, ...(issue?.path ?? [])];
  return { code: "custom", message: issue?.message ?? "invalid", path, input };
}
