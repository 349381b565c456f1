import { z } from "zod";
import { id, names, timeZone, toolRule } from "./values.ts";

export const channelSchema = z
  .strictObject({
    enabled: z.boolean().default(true),
    package: z
      .string()
      .min(1)
      .optional()
      .describe(
        "The npm package of a channel that is not built in, or its folder. The home is searched first.",
      ),
    process: z
      .boolean()
      .default(false)
      .describe(
        "Runs each account in its own process, which is restarted if it crashes. The memory of its SDK is then outside the gateway's process.",
      ),
    accounts: z
      .record(id, z.record(z.string(), z.unknown()))
      .default({})
      .describe("Its bots or apps, under names of your choice, with the settings of the channel."),
  })
  .describe("One channel.");

const resetPolicy = z.discriminatedUnion("mode", [
  z.strictObject({ mode: z.literal("none") }),
  z.strictObject({
    mode: z.literal("daily"),
    hour: z.int().min(0).max(23).default(4),
    timeZone: timeZone.optional(),
  }),
  z.strictObject({ mode: z.literal("idle"), minutes: z.int().positive() }),
]);

export const sessionSchema = z
  .strictObject({
    dmScope: z
      .enum(["main", "per-peer", "per-channel-peer", "per-account-channel-peer"])
      .default("per-channel-peer")
      .describe(
        "Direct messages that share a session: all of them; those of one person; of one person on one channel; or of one person with one bot.",
      ),
    identityLinks: z
      .record(z.string(), names)
      .default({})
      .describe("People with several ids, such as `alice: [telegram:123, feishu:ou_…]`."),
    timeZones: z
      .record(z.string(), timeZone)
      .default({})
      .describe(
        "People's time zones, for the times that agents see: by `channel:id` or the name of an identity link, such as `alice: Asia/Shanghai`. Default: the machine's.",
      ),
    queue: z
      .strictObject({
        mode: z
          .enum(["steer", "followup", "collect", "interrupt"])
          .default("steer")
          .describe(
            "Handling of a message that arrives during a run: it joins the run between two turns, gets the next run, shares the next run with others, or stops the run.",
          ),
        debounceMs: z
          .int()
          .min(0)
          .default(0)
          .describe(
            "Milliseconds without a new message before a run starts, but at most five times as long or 10 s, whichever is less.",
          ),
        cap: z
          .int()
          .positive()
          .default(20)
          .describe(
            "Maximum number of waiting messages per session, in every mode. Beyond that, `drop` applies.",
          ),
        drop: z
          .enum(["summarise", "old", "new"])
          .default("summarise")
          .describe(
            "The message that is dropped if `cap` is exceeded: the oldest, but a summary is kept; the oldest; or the new one.",
          ),
      })
      .prefault({})
      .describe("The message queue of each session."),
    reset: z
      .strictObject({
        default: resetPolicy.default({ mode: "none" }),
        direct: resetPolicy.optional(),
        group: resetPolicy.optional(),
        channel: resetPolicy.optional(),
      })
      .prefault({})
      .describe("Automatic resets of conversations, by type."),
  })
  .describe("Sessions and their message queues.");

const blocksSchema = z
  .strictObject({
    when: z
      .enum(["off", "without-edits", "always"])
      .default("off")
      .describe("`without-edits`: only on platforms whose messages cannot be edited."),
    minChars: z.int().positive().default(800).describe("Minimum length of a block, in characters."),
    maxChars: z
      .int()
      .positive()
      .default(1200)
      .describe("Maximum length of a block, in characters. A block that cannot be split may be longer."),
    breakAt: z
      .enum(["paragraph", "newline", "sentence"])
      .default("paragraph")
      .describe("Where blocks are split if possible. Code blocks and tables are not split."),
    idleMs: z
      .int()
      .min(0)
      .default(1000)
      .describe("Milliseconds without new text until a shorter block is sent."),
  })
  .refine(({ minChars, maxChars }) => minChars <= maxChars, {
    error: "must not be more than maxChars",
    path: ["minChars"],
  })
  .prefault({})
  .describe("Sends finished blocks of a long answer as separate messages while the rest is being written.");

export const repliesSchema = z
  .strictObject({
    stream: z
      .enum(["draft", "direct", "off"])
      .default("draft")
      .describe(
        "Whether an answer is shown while it is being written, on platforms that allow edits: `draft` everywhere, `direct` only in direct conversations, `off` nowhere.",
      ),
    blocks: blocksSchema,
    typing: z
      .boolean()
      .default(true)
      .describe(
        "Whether to show a typing indicator once an answer takes longer than two seconds (on Feishu, a reaction on the message, removed with the answer).",
      ),
  })
  .describe("The delivery of answers to platforms.");

const groupRuleSchema = z
  .strictObject({
    people: z
      .enum(["anyone", "members", "listed"])
      .optional()
      .describe(
        "Who is answered in this group besides owners; `listed` is the people in the rule's `allow`. Default: `access.groups.people`.",
      ),
    allow: names
      .optional()
      .describe(
        "Ids of people who are answered in this group in addition to `people`, written `channel:id`. Their role there does not change. A thread's rule with `people` does not use the list of its channel.",
      ),
    requireMention: z.boolean().optional().describe("Default: `access.groups.requireMention`."),
    tools: toolRule.optional().describe("The agent's tools that it may use in this group."),
    prompt: z.string().min(1).optional().describe("Additional instructions for the agent in this group."),
  })
  .describe("A rule for one group.");

export const accessSchema = z
  .strictObject({
    dm: z
      .enum(["pairing", "allowlist", "open", "off"])
      .default("pairing")
      .describe(
        "Who may write direct messages: people whom an owner approves by a code, those in `allow`, everyone, or nobody. A binding that names a person by id admits that person.",
      ),
    allow: names.default([]).describe("Ids of members, written `channel:id`."),
    owners: names
      .default([])
      .describe(
        "Ids of owners, written `channel:id`. They are always admitted and receive approval requests.",
      ),
    groups: z
      .strictObject({
        mode: z.enum(["allowlist", "open", "off"]).default("allowlist"),
        allow: names.default([]).describe("Ids of groups in which agents answer, written `channel:id`."),
        people: z
          .enum(["anyone", "members"])
          .default("anyone")
          .describe(
            "Who is answered in groups: everyone, or only owners and people in `access.allow`. Messages of others remain context, as `historyLimit` says.",
          ),
        rules: z
          .record(z.string().min(1), groupRuleSchema)
          .default({})
          .describe(
            "Rules for single groups, by `channel:id`. A thread follows the rule of its channel; a rule of the thread itself replaces only the settings that it has. A rule does not admit the group: `allow` does.",
          ),
        requireMention: z
          .boolean()
          .default(true)
          .describe("Whether an agent answers only messages that mention it or reply to it."),
        bots: z
          .enum(["ignore", "mentioned"])
          .default("ignore")
          .describe(
            "Other bots: `ignore` gives them no answer; `mentioned` answers those that mention the agent or reply to it, as guests, and pauses for five minutes if they write more than 20 times a minute. Either way, the agent can read what they write when a person addresses it.",
          ),
        historyLimit: z
          .int()
          .min(0)
          .max(200)
          .default(20)
          .describe(
            "Maximum number of earlier group messages, not addressed to the agent, that it sees along with a message that is.",
          ),
      })
      .prefault({})
      .describe("The groups in which agents answer, and the conditions for an answer."),
  })
  .describe("Who may talk to an agent.");

export const linksSchema = z
  .strictObject({
    mode: z
      .enum(["off", "fetch"])
      .default("off")
      .describe(
        "`fetch` reads linked pages before the agent answers and marks their text as untrusted. Not for guests.",
      ),
    max: z.int().min(1).max(10).default(3).describe("Maximum number of links to fetch per message."),
    maxChars: z
      .int()
      .min(200)
      .max(100_000)
      .default(8_000)
      .describe("Maximum number of characters to read from each page."),
  })
  .describe("The handling of links in messages.");
