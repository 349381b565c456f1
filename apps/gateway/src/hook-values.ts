import { z } from "zod";
import type { Change, ModifyPoint } from "./hook-points.ts";

/**
 * A copy in which nothing can be changed, so that code of a host changes neither what the gateway goes on with nor
 * what other hooks see.
 */
export function frozenCopy<T>(value: T): T {
  const copy = structuredClone(value);
  freeze(copy);
  return copy;
}

function freeze(value: unknown): void {
  // The bytes of a view cannot be frozen; they are a copy all the same.
  if (value === null || typeof value !== "object" || ArrayBuffer.isView(value)) return;
  for (const item of Object.values(value)) freeze(item);
  Object.freeze(value);
}

/** What hooks may say, point by point. Whatever else they return is left out. */
const CHANGES: { readonly [Point in ModifyPoint]: z.ZodType<Change<Point>> } = {
  before_model_resolve: z.object({
    model: z.exactOptional(z.union([z.string(), z.undefined()])),
    thinking: z.exactOptional(z.enum(["off", "minimal", "low", "medium", "high", "max"])),
  }),
  before_prompt_build: z.object({
    extra: z.exactOptional(
      z
        .array(
          z.object({
            name: z.string().min(1),
            title: z.string(),
            text: z.string(),
            part: z.enum(["stable", "volatile"]),
          }),
        )
        .refine((sections) => new Set(sections.map(({ name }) => name)).size === sections.length, {
          error: "two sections have one name",
        }),
    ),
  }),
  before_reply: z.object({ text: z.exactOptional(z.string()) }),
};

/**
 * What a modifier returned, as far as it may have a say.
 * @throws Error that says what is wrong with it
 */
export function checkedChange<Point extends ModifyPoint>(point: Point, change: unknown): Change<Point> {
  const checked = CHANGES[point].safeParse(change);
  if (checked.success) return checked.data;
  throw new Error(`what it returned cannot be used:\n${z.prettifyError(checked.error)}`);
}
