import { z } from "zod";
import { days } from "./values.ts";

export const memorySchema = z
  .strictObject({
    enabled: z.boolean().default(true).describe("`false` turns off recall and search. The files are kept."),
    embeddings: z
      .string()
      .regex(/^(none|static:.+|[^/:]+\/.+)$/, "must be none, provider/model or static:<folder>")
      .default("none")
      .describe(
        "The model that computes vectors for semantic search: `none`, `provider/model` of a provider with OpenAI's embeddings API, or `static:` with the folder of a static model (model2vec).",
      ),
    recallTokens: z
      .int()
      .min(0)
      .max(20_000)
      .default(600)
      .describe("Maximum number of tokens to recall per message. 0 turns recall off."),
    halfLifeDays: days
      .default(30)
      .describe("Age in days at which the weight of a memory's recency is halved."),
    consolidate: z
      .boolean()
      .default(true)
      .describe(
        "Whether the model collects lasting facts from earlier daily notes in `memory/MEMORY.md` once a day.",
      ),
  })
  .describe("The agents' memory across conversations.");
