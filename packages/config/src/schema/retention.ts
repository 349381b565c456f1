import { z } from "zod";
import { days } from "./values.ts";

const rows = z.int().positive().max(1_000_000_000);
const megabytes = z.number().positive().max(1_000_000);

export const retentionSchema = z
  .strictObject({
    idleSessionsDays: days
      .optional()
      .describe(
        "Days without activity after which a conversation is removed with all its messages. Default: never.",
      ),
    sessions: rows
      .optional()
      .describe(
        "Maximum number of conversations. Beyond that, the conversations without activity for the longest time are removed. Default: no limit.",
      ),
    hiddenMessagesDays: days
      .default(90)
      .describe(
        "Days to keep messages that are no longer part of a conversation after `/new`, a reset or a compaction, and group messages that were not addressed to the agent.",
      ),
    inboxDays: days.default(7).describe("Days to keep finished messages in the inbox."),
    dedupeDays: days
      .min(7, "must be 7 or more, because platforms redeliver for that long")
      .default(14)
      .describe("Days to keep the keys that identify redelivered messages."),
    journalDays: days
      .default(30)
      .describe("Days to keep the journals of finished runs. Daily usage totals are kept."),
    outboxDays: days.default(14).describe("Days to keep replies that were sent or not delivered."),
    tracesDays: days.default(7).describe("Days to keep the traces that `trace` and `why` show."),
    traces: rows.default(200_000).describe("Maximum number of trace entries."),
    tracesMegabytes: megabytes.default(256).describe("Maximum size of traces, in megabytes."),
    attachments: rows.default(2_000).describe("Maximum number of attachments in each workspace."),
    attachmentsMegabytes: megabytes
      .default(2_000)
      .describe("Maximum size of attachments in each workspace, in megabytes."),
    attachmentsDays: days.optional().describe("Days after which attachments are removed. Default: never."),
    databaseMegabytes: megabytes
      .default(4_000)
      .describe(
        "Size of the database, in megabytes, beyond which traces, journals, hidden messages and finished work are removed early. Conversations and redelivery keys are kept.",
      ),
  })
  .describe("Limits on the age and amount of stored data. Unfinished work is never removed.");
