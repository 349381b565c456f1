import { z } from "zod";

export const gatewaySchema = z
  .strictObject({
    host: z
      .string()
      .min(1)
      .default("127.0.0.1")
      .describe("The address it listens on. Any address other than loopback requires a token that you set."),
    port: z.int().min(0).max(65_535).default(4747).describe("The port; 0 picks a free one."),
    allowedHosts: z
      .array(
        z.string().regex(/^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/, "must be a host name without a port"),
      )
      .default([])
      .describe(
        "Host names, without port, under which a reverse proxy forwards requests. Other `Host` names and pages of other origins are rejected. IP addresses and `localhost` need no entry.",
      ),
    auth: z
      .strictObject({
        token: z
          .string()
          .min(16)
          .optional()
          .describe(
            "The token that clients present; also `SIGNALBOX_TOKEN`. Default: one that is created at the first start and stored in the file `token`.",
          ),
      })
      .default({}),
    inboxLimit: z
      .int()
      .min(1)
      .default(10_000)
      .describe("How many accepted messages may be unfinished. Beyond that, new ones are rejected."),
    shutdownMs: z
      .int()
      .min(0)
      .default(30_000)
      .describe(
        "How long runs may continue when the gateway stops, in milliseconds. Afterwards they have 5 s to end, and the next start resumes the rest.",
      ),
    maxRuns: z
      .int()
      .min(1)
      .default(64)
      .describe(
        "Concurrent runs over all sessions. Runs that only wait for a person's approval do not count, up to four times as many.",
      ),
    logLevel: z
      .enum(["trace", "debug", "info", "warn", "error", "silent"])
      .default("info")
      .describe("The lowest level that is logged."),
  })
  .describe("Where the gateway listens, and who may connect to it.");
