import { z } from "zod";

export const gatewaySchema = z
  .strictObject({
    host: z
      .string()
      .min(1)
      .default("127.0.0.1")
      .describe("The address it listens on. Anything but the loopback needs a token of your own."),
    port: z.int().min(0).max(65_535).default(4747).describe("Its port; 0 takes any free one."),
    allowedHosts: z
      .array(
        z.string().regex(/^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/, "must be a host name without port"),
      )
      .default([])
      .describe(
        "Host names under which a reverse proxy passes requests on, without port. Other names in `Host` are refused, and so are pages of other origins; addresses and `localhost` need no entry.",
      ),
    auth: z
      .strictObject({
        token: z
          .string()
          .min(16)
          .optional()
          .describe(
            "What clients present; also `SIGNALBOX_TOKEN`. Default: one that is made at the first start and kept in the file `token`.",
          ),
      })
      .default({}),
    inboxLimit: z
      .int()
      .min(1)
      .default(10_000)
      .describe("Most accepted but unfinished messages; beyond it platforms are refused."),
    shutdownMs: z
      .int()
      .min(0)
      .default(30_000)
      .describe(
        "How long a stop lets runs go on, in milliseconds. Then they have 5 s to end, and the next start goes on with what has not.",
      ),
    maxRuns: z
      .int()
      .min(1)
      .default(64)
      .describe(
        "Runs at once, over all sessions; up to four times as many that only wait for a person's approval do not count.",
      ),
    logLevel: z
      .enum(["trace", "debug", "info", "warn", "error", "silent"])
      .default("info")
      .describe("What is logged at least."),
  })
  .describe("Where the service listens, and who may talk to it.");
