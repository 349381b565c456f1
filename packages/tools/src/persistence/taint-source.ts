import { z } from "zod";
import type { TaintSource } from "../types.ts";

const SOURCES = [
  ...(["web", "quote", "forward", "history", "memory", "file", "mcp", "log", "person", "other"] as const),
] as const satisfies readonly TaintSource[];

/** A source of taint as it was kept. */
export const taintSource: z.ZodType<TaintSource> = z.enum(SOURCES);
