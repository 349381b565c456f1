import { z } from "zod";
import { modelRef } from "./models.ts";

export const budgetSchema = z
  .strictObject({
    of: z
      .enum(["sender", "agent", "channel", "all"])
      .describe(
        "Which calls are counted together: each `sender`, `agent` or `channel` has its own budget; `all` share one.",
      ),
    name: z
      .string()
      .min(1)
      .optional()
      .describe(
        "Whom it applies to: the id of an agent or channel; a sender as `channel:id` or by the name of an identity link. Default: each.",
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
      .describe("The limit in tokens in and out, cached ones included, instead of `usd`."),
    warnAt: z
      .number()
      .min(0)
      .max(1)
      .default(0.8)
      .describe("The share of the limit at which the log and the metrics warn."),
    action: z
      .enum(["warn", "cheaper", "ask", "stop"])
      .default("stop")
      .describe(
        "What happens to a call when the budget is used up: `cheaper` uses `model`, `ask` asks an owner for approval.",
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
