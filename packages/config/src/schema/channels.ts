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
        "The npm package of a channel that does not come with the gateway, or a folder that holds one; looked for in the home first.",
      ),
    process: z
      .boolean()
      .default(false)
      .describe(
        "Each account runs in a process of its own: what its platform's SDK holds in memory is not the gateway's, and one that crashes is started again while everything else goes on.",
      ),
    accounts: z
      .record(id, z.record(z.string(), z.unknown()))
      .default({})
      .describe("Its bots or apps, by a name of yours; each has the channel's own settings."),
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
        "Which direct messages share a conversation: all of them, those of one person, of one person on one channel, or to one bot.",
      ),
    identityLinks: z
      .record(z.string(), names)
      .default({})
      .describe("One person under several ids, as `alice: [telegram:123, feishu:ou_…]`."),
    timeZones: z
      .record(z.string(), timeZone)
      .default({})
      .describe(
        "In which zone agents are told the time of people, by `channel:id` or the name of an identity link, as `alice: Asia/Shanghai`. Default: that of the machine.",
      ),
    queue: z
      .strictObject({
        mode: z
          .enum(["steer", "followup", "collect", "interrupt"])
          .default("steer")
          .describe(
            "What becomes of a message that comes during a run: it joins it between two turns, follows after it, is answered together with others after it, or ends it.",
          ),
        debounceMs: z
          .int()
          .min(0)
          .default(0)
          .describe(
            "Milliseconds without a new message before a run starts; at the latest after five times as long or 10 s, whichever is less.",
          ),
        cap: z
          .int()
          .positive()
          .default(20)
          .describe("Messages waiting in one session before `drop` applies, in every mode."),
        drop: z
          .enum(["summarise", "old", "new"])
          .default("summarise")
          .describe("What then goes: the oldest with a summary of them, the oldest, or what comes."),
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
      .describe("When a conversation starts anew by itself, by its kind."),
  })
  .describe("Whose messages share a conversation, and how messages queue.");

const blocksSchema = z
  .strictObject({
    when: z
      .enum(["off", "without-edits", "always"])
      .default("off")
      .describe(
        "`without-edits`: on platforms whose messages cannot be changed, so that an answer cannot grow in one.",
      ),
    minChars: z.int().positive().default(800).describe("In characters: fewer are no block of their own."),
    maxChars: z
      .int()
      .positive()
      .default(1200)
      .describe("In characters: with more, one is cut where that is possible."),
    breakAt: z
      .enum(["paragraph", "newline", "sentence"])
      .default("paragraph")
      .describe("Where it is best cut. Code blocks and tables stay whole."),
    idleMs: z
      .int()
      .min(0)
      .default(1000)
      .describe("Milliseconds without a new word until what is there is sent, though more would fit."),
  })
  .refine(({ minChars, maxChars }) => minChars <= maxChars, {
    error: "must not be more than maxChars",
    path: ["minChars"],
  })
  .prefault({})
  .describe("Finished blocks of a long answer are sent as messages of their own while the rest is written.");

export const repliesSchema = z
  .strictObject({
    stream: z
      .enum(["draft", "direct", "off"])
      .default("draft")
      .describe(
        "Whether an answer is shown on its platform while it is written, where the platform's messages can be changed: `draft` everywhere, `direct` in direct conversations alone, `off` nowhere.",
      ),
    blocks: blocksSchema,
    typing: z
      .boolean()
      .default(true)
      .describe(
        "Whether a platform shows that an answer is being written, once that takes longer than two seconds (on Feishu a reaction on the message, which goes with the answer).",
      ),
  })
  .describe("How answers reach platforms.");

export const accessSchema = z
  .strictObject({
    dm: z
      .enum(["pairing", "allowlist", "open", "off"])
      .default("pairing")
      .describe(
        "Who may write directly: whoever an owner approves by a code, those of `allow`, everybody, nobody. A binding that names a person by id lets that person in.",
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
        allow: names.default([]).describe("Groups in which agents talk, by id, written `channel:id`."),
        requireMention: z
          .boolean()
          .default(true)
          .describe("Whether an agent answers only what mentions it or replies to it."),
        bots: z
          .enum(["ignore", "mentioned"])
          .default("ignore")
          .describe(
            "Other bots: `mentioned` answers those that mention the agent or reply to it, as guests, and makes a pause of five minutes where they write more than 20 times a minute.",
          ),
        historyLimit: z
          .int()
          .min(0)
          .max(200)
          .default(20)
          .describe("How many messages that were not for the agent it is told when one is."),
      })
      .prefault({})
      .describe("In which groups agents talk, and when."),
  })
  .describe("Who may talk to an agent.");

export const linksSchema = z
  .strictObject({
    mode: z
      .enum(["off", "fetch"])
      .default("off")
      .describe(
        "`fetch`: pages are read before the agent answers, and given to it as what others wrote; not for guests.",
      ),
    max: z.int().min(1).max(10).default(3).describe("How many of a message's links."),
    maxChars: z.int().min(200).max(100_000).default(8_000).describe("Of one page, in characters."),
  })
  .describe("What becomes of links in messages.");
