import { z } from "zod";
import { authSchema } from "./sign-in.ts";
import { webAddress } from "./values.ts";

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
        "Host names, without a port, for which a reverse proxy forwards requests. Requests with another `Host` or from pages of other origins are rejected. IP addresses and `localhost` need no entry.",
      ),
    publicUrl: webAddress
      .optional()
      .describe(
        "The address at which browsers reach the gateway, for example behind a reverse proxy. Sign-in pages of other services send browsers back to it. By default, `http://127.0.0.1` with the port, which works for a browser on this machine.",
      ),
    auth: authSchema.prefault({}),
    node: z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/, "must consist of letters, digits, dots, dashes and underscores")
      .optional()
      .describe("The name of this gateway among those that share a store. It counts as one of its labels."),
    labels: z.array(z.string().min(1)).default([]).describe("Labels of this gateway, for `nodes` of agents."),
    inboxLimit: z
      .int()
      .min(1)
      .default(10_000)
      .describe(
        "Maximum number of accepted messages that are not finished. Beyond that, new ones are rejected.",
      ),
    shutdownMs: z
      .int()
      .min(0)
      .default(30_000)
      .describe(
        "Time that runs may continue when the gateway stops, in milliseconds. After that they have 5 s to end. The next start resumes those that have not.",
      ),
    maxRuns: z
      .int()
      .min(1)
      .default(64)
      .describe(
        "Maximum number of concurrent runs in all sessions. In addition, up to four times as many runs may wait for a person's approval.",
      ),
    logLevel: z
      .enum(["trace", "debug", "info", "warn", "error", "silent"])
      .default("info")
      .describe("Minimum level of log entries."),
    updateNotice: z
      .boolean()
      .default(true)
      .describe(
        "Whether the gateway asks the npm registry once a day for its newest version, and reports a newer one in the log and in `signalbox status`. The request contains nothing about the installation.",
      ),
  })
  .describe("The gateway's network address and access to it.");
