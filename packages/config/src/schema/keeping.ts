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
        "Days without a message after which a conversation is removed, with all its messages. Default: never.",
      ),
    sessions: rows
      .optional()
      .describe(
        "The most conversations; beyond that, those idle for longest are removed. Default: no limit.",
      ),
    hiddenMessagesDays: days
      .default(90)
      .describe(
        "Days for messages that their conversation has left behind, by `/new`, a reset or a compaction, and for what was said in groups without addressing the agent.",
      ),
    inboxDays: days.default(7).describe("Days for ended messages in the inbox."),
    dedupeDays: days
      .min(7, "must be 7 or more, because platforms redeliver for that long")
      .default(14)
      .describe("Days for the keys that recognise a redelivered message."),
    journalDays: days
      .default(30)
      .describe("Days for the journals of ended runs; their usage stays, summed by day."),
    outboxDays: days.default(14).describe("Days to keep replies that were sent or not delivered."),
    tracesDays: days.default(7).describe("Days for the notes that `trace` and `why` show."),
    traces: rows.default(200_000).describe("The most rows of these notes."),
    tracesMegabytes: megabytes.default(256).describe("The most megabytes of these notes."),
    attachments: rows.default(2_000).describe("The most attachments in each workspace."),
    attachmentsMegabytes: megabytes
      .default(2_000)
      .describe("The most megabytes of attachments in each workspace."),
    attachmentsDays: days.optional().describe("Days after which attachments are removed. Default: never."),
    databaseMegabytes: megabytes
      .default(4_000)
      .describe(
        "Megabytes of the database beyond which traces, journals, hidden messages and finished work are removed sooner than their days say. Conversations and keys against redelivery stay.",
      ),
  })
  .describe("How long and how much is kept. Unfinished work is never removed, whatever is set here.");

export const memorySchema = z
  .strictObject({
    enabled: z
      .boolean()
      .default(true)
      .describe("`false` turns recall and search off. Files stay as they are."),
    embeddings: z
      .string()
      .regex(/^(none|static:.+|[^/:]+\/.+)$/, "must be none, provider/model or static:<folder>")
      .default("none")
      .describe(
        "What computes vectors for search by meaning: `none`, `provider/model` of a provider with OpenAI's embeddings API, or `static:` with the folder of a static model (model2vec).",
      ),
    recallTokens: z
      .int()
      .min(0)
      .max(20_000)
      .default(600)
      .describe("The most tokens recalled for a message; 0 recalls nothing."),
    halfLifeDays: days.default(30).describe("Days after which recency counts half."),
    consolidate: z
      .boolean()
      .default(true)
      .describe(
        "Whether the model collects what lasts from the notes of past days into `memory/MEMORY.md`, once for each day.",
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
        "What transcribes voice and video messages: `none`, or `provider/model` of a provider with OpenAI's transcription API, for instance `openai/gpt-4o-mini-transcribe`.",
      ),
  })
  .describe("How attachments of messages are read.");

export const skillsSchema = z
  .strictObject({
    load: z
      .strictObject({
        extraDirs: names.default([]).describe("Folders of skills in addition to the standard ones."),
      })
      .prefault({}),
    entries: z
      .record(
        z.string(),
        z.strictObject({
          enabled: z.boolean().optional().describe("`false` turns it off."),
          env: z
            .record(
              z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, "must be the name of a variable"),
              z.string(),
            )
            .optional()
            .describe(
              "Environment variables for commands of agents that can use the skill. Write a key as a reference, such as `${NAME}`.",
            ),
          apiKey: z
            .string()
            .min(1)
            .optional()
            .describe("The same, for the one variable that the skill declares as its `primaryEnv`."),
          config: z
            .record(z.string(), z.json())
            .optional()
            .describe("Settings that its requirements may ask for."),
        }),
      )
      .default({})
      .describe("Settings of single skills, by name."),
  })
  .describe("Where else to look for skills, and which are off.");
