import { z } from "zod";
import { days } from "./values.ts";

export const memorySchema = z
  .strictObject({
    enabled: z.boolean().default(true).describe("`false` turns recall and search off. The files stay."),
    embeddings: z
      .string()
      .regex(/^(none|static:.+|[^/:]+\/.+)$/, "must be none, provider/model or static:<folder>")
      .default("none")
      .describe(
        "What computes vectors for semantic search: `none`, `provider/model` of a provider with OpenAI's embeddings API, or `static:` with the folder of a static model (model2vec).",
      ),
    recallTokens: z
      .int()
      .min(0)
      .max(20_000)
      .default(600)
      .describe("Maximum number of tokens recalled for a message. 0 recalls nothing."),
    halfLifeDays: days.default(30).describe("Age in days after which recency counts half."),
    consolidate: z
      .boolean()
      .default(true)
      .describe(
        "Whether the model collects lasting facts from the notes of past days in `memory/MEMORY.md`, once per day.",
      ),
  })
  .describe("What agents remember beyond a conversation.");
