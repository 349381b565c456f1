import { z } from "zod";

export const backupsSchema = z
  .strictObject({
    everyHours: z
      .number()
      .min(1)
      .max(8_760)
      .optional()
      .describe(
        "Hours between two backups of the home and its SQLite file. Default: the gateway makes none.",
      ),
    keep: z.int().min(1).max(1_000).default(7).describe("Number of scheduled backups to keep."),
    dir: z
      .string()
      .min(1)
      .default("backups")
      .describe("Folder for the backups. A relative path starts at the home; another disk is safer."),
    secrets: z
      .boolean()
      .default(false)
      .describe("Whether the backups contain `secrets/` and the gateway's token."),
  })
  .describe(
    "Backups of the whole home by the gateway. Each one is tested by restoring it into a temporary folder.",
  );
