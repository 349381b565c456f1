import { z } from "zod";
import { modelRef } from "./models.ts";

export const budgetSchema = z
  .strictObject({
    of: z
      .enum(["sender", "agent", "channel", "all"])
      .describe(
        "The scope of the budget: each `sender`, `agent` or `channel` has a separate budget; `all` calls share one.",
      ),
    name: z
      .string()
      .min(1)
      .optional()
      .describe(
        "The agent or channel (by id) or sender (`channel:id`, or the name of an identity link) that it applies to. Default: each of them.",
      ),
    roles: z
      .array(z.enum(["owner", "member", "guest", "system"]))
      .min(1)
      .optional()
      .describe("Counts only calls for people with these roles. Default: all."),
    per: z.enum(["day", "month"]).default("day").describe("The period, in UTC."),
    usd: z
      .number()
      .positive()
      .max(1_000_000_000)
      .optional()
      .describe("The limit in US dollars, for models with known prices."),
    tokens: z
      .int()
      .positive()
      .optional()
      .describe("The limit in input and output tokens, including cached ones, instead of `usd`."),
    warnAt: z
      .number()
      .min(0)
      .max(1)
      .default(0.8)
      .describe("The share of the limit at which the gateway logs a warning and counts it in the metrics."),
    action: z
      .enum(["warn", "cheaper", "ask", "stop"])
      .default("stop")
      .describe(
        "Effect of a used-up budget on further calls: `cheaper` uses `model`, `ask` asks an owner for approval.",
      ),
    model: modelRef.optional().describe("For `cheaper`: the model to use instead."),
  })
  .refine(({ usd, tokens }) => (usd === undefined) !== (tokens === undefined), {
    message: "needs exactly one of usd and tokens",
  })
  .refine(({ action, model }) => (action === "cheaper") === (model !== undefined), {
    path: ["model"],
    message: "is required with `action: cheaper`, and not allowed otherwise",
  })
  .refine(({ of, name }) => of !== "all" || name === undefined, {
    path: ["name"],
    message: "cannot be combined with `of: all`",
  })
  .describe("A limit on the cost of model calls per day or month.");
