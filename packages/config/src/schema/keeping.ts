import { z } from "zod";
import { names } from "./values.ts";

/** What is kept, and for how long; what is remembered and understood; where skills lie. */

const days = z.number().positive().max(36_500);
const rows = z.int().positive().max(1_000_000_000);
const megabytes = z.number().positive().max(1_000_000);

export const retentionSchema = z
  .strictObject({
    idleSessionsDays: days
      .optional()
      .describe(
        "Days without a message after which a conversation goes, with all its messages. Default: never.",
      ),
    sessions: rows
      .optional()
      .describe("Most conversations; beyond it those go that had no message for longest. Default: no limit."),
    hiddenMessagesDays: days
      .default(90)
      .describe(
        "Days for messages that their conversation has left behind, by `/new`, a reset or a compaction, and for what was said in groups without the agent being addressed.",
      ),
    inboxDays: days.default(7).describe("Days for ended messages as they came in."),
    dedupeDays: days
      .min(7, "must be 7 or more: platforms deliver again for as long")
      .default(14)
      .describe("Days for the keys that tell a redelivered message."),
    journalDays: days
      .default(30)
      .describe("Days for the journals of ended runs; what they used stays, summed by day."),
    outboxDays: days.default(14).describe("Days for replies that were sent or given up."),
    tracesDays: days.default(7).describe("Days for what `trace` and `why` tell."),
    traces: rows.default(200_000).describe("Most rows of it."),
    tracesMegabytes: megabytes.default(256).describe("Most megabytes of it."),
    attachments: rows.default(2_000).describe("Most files of messages in each workspace."),
    attachmentsMegabytes: megabytes.default(2_000).describe("Their megabytes."),
    attachmentsDays: days.optional().describe("Days since they came. Default: never."),
    databaseMegabytes: megabytes
      .default(4_000)
      .describe(
        "Megabytes of the database beyond which traces, journals, hidden messages and what has ended go sooner than their days say. Conversations and keys against redelivery stay.",
      ),
  })
  .describe("How long and how much is kept. What is unfinished is never removed, whatever stands here.");

export const memorySchema = z
  .strictObject({
    enabled: z
      .boolean()
      .default(true)
      .describe("`false`: nothing is recalled or searched. Files stay as they are."),
    embeddings: z
      .string()
      .regex(/^(none|static:.+|[^/:]+\/.+)$/, "must be none, provider/model or static:<folder>")
      .default("none")
      .describe(
        "What compares by meaning: `none`, `provider/model` of a provider that speaks OpenAI's embeddings, or `static:` with the folder of a static model (model2vec).",
      ),
    recallTokens: z
      .int()
      .min(0)
      .max(20_000)
      .default(600)
      .describe("Tokens of what is recalled for a message, at most; 0 recalls nothing."),
    halfLifeDays: days.default(30).describe("Days after which being new counts half."),
    consolidate: z
      .boolean()
      .default(true)
      .describe(
        "Whether the model draws what lasts from the notes of past days into `memory/MEMORY.md`, once for each day.",
      ),
  })
  .describe("What agents remember beyond a conversation.");

export const mediaSchema = z
  .strictObject({
    transcription: z
      .string()
      .regex(/^(none|[^/:\s]+\/\S+)$/, "must be none or provider/model")
      .default("none")
      .describe(
        "What writes down voice and video messages: `none`, or `provider/model` of a provider that speaks OpenAI's transcriptions, for instance `openai/gpt-4o-mini-transcribe`.",
      ),
  })
  .describe("How attachments of messages are understood.");

export const skillsSchema = z
  .strictObject({
    load: z
      .strictObject({ extraDirs: names.default([]).describe("Folders of skills besides the standard ones.") })
      .prefault({}),
    entries: z
      .record(
        z.string(),
        z.strictObject({
          enabled: z.boolean().optional().describe("`false` switches it off."),
          env: z
            .record(
              z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, "must be the name of a variable"),
              z.string(),
            )
            .optional()
            .describe(
              "What commands of agents that can use it find in their environment. A key is best a reference, as `${NAME}`.",
            ),
          apiKey: z
            .string()
            .min(1)
            .optional()
            .describe("The same for the one variable that the skill itself calls its `primaryEnv`."),
          config: z.record(z.string(), z.json()).optional().describe("What its requirements may ask for."),
        }),
      )
      .default({})
      .describe("Single skills, by name."),
  })
  .describe("Where skills are looked for besides the standard places, and which are off.");
