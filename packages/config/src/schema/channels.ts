import { z } from "zod";
import { id, names, timeZone } from "./values.ts";

export const channelSchema = z
  .strictObject({
    enabled: z.boolean().default(true),
    package: z
      .string()
      .min(1)
      .optional()
      .describe(
        "The npm package of a channel that does not come with the gateway, or the folder of one. The home is searched first.",
      ),
    process: z
      .boolean()
      .default(false)
      .describe(
        "Runs each account in a process of its own: its SDK's memory is not the gateway's, and an account that crashes is restarted while everything else goes on.",
      ),
    accounts: z
      .record(id, z.record(z.string(), z.unknown()))
      .default({})
      .describe("Its bots or apps, under names of your choice, with the channel's own settings."),
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
        "Which direct messages share a session: all; those of one person; of one person on one channel; or of one person to one bot.",
      ),
    identityLinks: z
      .record(z.string(), names)
      .default({})
      .describe("One person with several ids, such as `alice: [telegram:123, feishu:ou_…]`."),
    timeZones: z
      .record(z.string(), timeZone)
      .default({})
      .describe(
        "The time zone of a person, in which agents are told the time; by `channel:id` or the name of an identity link, such as `alice: Asia/Shanghai`. Default: the machine's.",
      ),
    queue: z
      .strictObject({
        mode: z
          .enum(["steer", "followup", "collect", "interrupt"])
          .default("steer")
          .describe(
            "What happens to a message that comes during a run: it joins the run between two turns, gets the next run, shares the next run with others, or ends the run.",
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
          .describe("Messages that may wait in one session before `drop` applies, in every mode."),
        drop: z
          .enum(["summarise", "old", "new"])
          .default("summarise")
          .describe("What is dropped then: the oldest, with a summary; the oldest; or the new message."),
      })
      .prefault({})
      .describe("How messages of one session queue."),
    reset: z
      .strictObject({
        default: resetPolicy.default({ mode: "none" }),
        direct: resetPolicy.optional(),
        group: resetPolicy.optional(),
        channel: resetPolicy.optional(),
      })
      .prefault({})
      .describe("When a conversation starts afresh by itself, by its kind."),
  })
  .describe("Which messages share a session, and how messages queue.");

const blocksSchema = z
  .strictObject({
    when: z
      .enum(["off", "without-edits", "always"])
      .default("off")
      .describe(
        "`without-edits`: only on platforms whose messages cannot be edited, where an answer cannot grow in one message.",
      ),
    minChars: z.int().positive().default(800).describe("The shortest block, in characters."),
    maxChars: z
      .int()
      .positive()
      .default(1200)
      .describe("The longest block, in characters, where it can be cut."),
    breakAt: z
      .enum(["paragraph", "newline", "sentence"])
      .default("paragraph")
      .describe("Where to prefer to cut. Code blocks and tables stay whole."),
    idleMs: z
      .int()
      .min(0)
      .default(1000)
      .describe("Milliseconds without a new word until an unfilled block is sent."),
  })
  .refine(({ minChars, maxChars }) => minChars <= maxChars, {
    error: "must not be more than maxChars",
    path: ["minChars"],
  })
  .prefault({})
  .describe("Sends finished blocks of a long answer as messages of their own while the rest is written.");

export const repliesSchema = z
  .strictObject({
    stream: z
      .enum(["draft", "direct", "off"])
      .default("draft")
      .describe(
        "Whether an answer is shown while it is written, on platforms that allow edits: `draft` everywhere, `direct` only in direct conversations, `off` nowhere.",
      ),
    blocks: blocksSchema,
    typing: z
      .boolean()
      .default(true)
      .describe(
        "Whether to show a typing indicator once an answer takes longer than two seconds (on Feishu, a reaction on the message, removed with the answer).",
      ),
  })
  .describe("How answers are sent to platforms.");

export const accessSchema = z
  .strictObject({
    dm: z
      .enum(["pairing", "allowlist", "open", "off"])
      .default("pairing")
      .describe(
        "Who may write direct messages: people an owner approves by a code, those of `allow`, everybody, or nobody. A binding that names a person by id lets that person in.",
      ),
    allow: names.default([]).describe("Members, by the platform's id, written `channel:id`."),
    owners: names
      .default([])
      .describe(
        "Owners, by the platform's id, written `channel:id`: always allowed, and asked for approvals.",
      ),
    groups: z
      .strictObject({
        mode: z.enum(["allowlist", "open", "off"]).default("allowlist"),
        allow: names.default([]).describe("Groups in which agents answer, by id, written `channel:id`."),
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
            "How many earlier messages of the group, not addressed to the agent, it is shown with one that is.",
          ),
      })
      .prefault({})
      .describe("In which groups agents answer, and when."),
  })
  .describe("Who may talk to an agent.");

export const linksSchema = z
  .strictObject({
    mode: z
      .enum(["off", "fetch"])
      .default("off")
      .describe(
        "`fetch`: pages are read before the agent answers, and given to it as other people's words; not for guests.",
      ),
    max: z.int().min(1).max(10).default(3).describe("How many links of a message are read."),
    maxChars: z
      .int()
      .min(200)
      .max(100_000)
      .default(8_000)
      .describe("How much of one page is read, in characters."),
  })
  .describe("What happens to links in messages.");
