import { z } from "zod";
import { names } from "./values.ts";

export const skillsSchema = z
  .strictObject({
    load: z
      .strictObject({
        extraDirs: names.default([]).describe("Folders with skills, in addition to the standard ones."),
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
            .describe("Value of the environment variable that the skill declares as its `primaryEnv`."),
          config: z
            .record(z.string(), z.json())
            .optional()
            .describe("Settings to which the skill's requirements refer."),
        }),
      )
      .default({})
      .describe("Settings of skills, by name."),
  })
  .describe("Additional skill folders, and settings of skills.");
