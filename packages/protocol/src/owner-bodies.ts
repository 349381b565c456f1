import * as z from "zod/mini";
import { MessageInfo, Trace } from "./bodies.ts";
import { Language } from "./values.ts";

/** A session of any channel. */
export const SessionInfo = z.object({
  key: z.string(),
  /** Id of the agent. */
  agent: z.string(),
  channel: z.string(),
  account: z.string(),
  /** Id of the person, group or conversation on the channel. */
  peer: z.string(),
  /** `direct`, `group`, … */
  kind: z.string(),
  title: z.optional(z.string()),
  /** Display name of the person on the other side, if it is known. */
  peerName: z.optional(z.string()),
  updatedAt: z.number(),
  /** Number of messages in the model's context. */
  messages: z.number(),
  /** Total tokens since the session was created. */
  tokens: z.number(),
  costMicros: z.number(),
  /** True while the session has a current run. */
  busy: z.boolean(),
});
export type SessionInfo = z.infer<typeof SessionInfo>;

/** Response of `GET /api/sessions`, latest first. */
export const SessionList = z.object({ sessions: z.array(SessionInfo) });
export type SessionList = z.infer<typeof SessionList>;

/** Query of `GET /api/sessions/transcript`. */
export const TranscriptQuery = z.object({
  session: z.string().check(z.minLength(1)),
  /** `before` of the page that follows this one. Default: the latest messages. */
  before: z.optional(z.coerce.number().check(z.int(), z.minimum(1))),
});
export type TranscriptQuery = z.infer<typeof TranscriptQuery>;

/**
 * Groups of message states: waiting or in progress, answered, not answered on purpose, and failed, expired or possibly
 * not delivered.
 */
export const MessageOutcome = z.enum(["open", "answered", "unanswered", "failed"]);
export type MessageOutcome = z.infer<typeof MessageOutcome>;

/** Query of `GET /api/messages`. Without conditions, the latest messages of all channels. */
export const MessageQuery = z.object({
  /** Key of a session. */
  session: z.optional(z.string()),
  outcome: z.optional(MessageOutcome),
  channel: z.optional(z.string()),
  /** Id of the agent. */
  agent: z.optional(z.string()),
  /** Text that the message, its sender's id or its sender's name contains, in any case. */
  text: z.optional(z.string().check(z.maxLength(200))),
  /** `next` of the previous page. */
  before: z.optional(z.string()),
  /** Maximum number of messages. Default 100. */
  limit: z.optional(z.coerce.number().check(z.int(), z.minimum(1), z.maximum(500))),
});
export type MessageQuery = z.infer<typeof MessageQuery>;

/** Response of `GET /api/messages`, latest first. */
export const MessageList = z.object({
  messages: z.array(MessageInfo),
  /**
   * Pass it as `before` to get earlier messages. Absent on the last page. A page can have fewer messages than the limit
   * although earlier ones match, because one request examines a limited number.
   */
  next: z.optional(z.string()),
});
export type MessageList = z.infer<typeof MessageList>;

/** Query of `GET /api/commands`. */
export const CommandQuery = z.object({
  /** Id of the agent. Default: the default agent. */
  agent: z.optional(z.string()),
  language: z._default(Language, "en"),
});
export type CommandQuery = z.infer<typeof CommandQuery>;

/** A chat command that the client may use. */
export const CommandInfo = z.object({
  /** Name without the slash. */
  name: z.string(),
  description: z.string(),
  /** The arguments, for instance `[name]`. */
  usage: z.optional(z.string()),
});
export type CommandInfo = z.infer<typeof CommandInfo>;

/** Response of `GET /api/commands`: built-in commands, then those of the agent's skills. */
export const CommandList = z.object({ commands: z.array(CommandInfo) });
export type CommandList = z.infer<typeof CommandList>;

/** Query of `GET /api/why/:messageId`. */
export const WhyQuery = z.object({ language: z._default(Language, "en") });
export type WhyQuery = z.infer<typeof WhyQuery>;

/** Response of `GET /api/why/:messageId`: explains what happened to a message. */
export const Why = z.object({
  trace: Trace,
  /** The outcome, and the rule that led to it. */
  sentence: z.string(),
  /** The last trace note about the model: the model that responded, or the provider's error. */
  said: z.optional(z.string()),
  /** Advice for changing the outcome. */
  remedy: z.optional(z.string()),
});
export type Why = z.infer<typeof Why>;

/** A person, as identified by one account of a channel. */
export const Person = z.strictObject({ channel: z.string(), account: z.string(), peer: z.string() });
export type Person = z.infer<typeof Person>;

/** A person who received a pairing code and is waiting for an owner's approval. */
export const PairingRequest = z.extend(Person, {
  /** Display name on the platform. */
  label: z.optional(z.string()),
  expiresAt: z.number(),
});
export type PairingRequest = z.infer<typeof PairingRequest>;

/** A person whose pairing was approved. */
export const PairedPerson = z.extend(Person, {
  label: z.optional(z.string()),
  approvedAt: z.number(),
  approvedBy: z.string(),
});
export type PairedPerson = z.infer<typeof PairedPerson>;

/** A person whom the configuration names. */
export const ConfiguredPerson = z.object({
  /** The entry of the configuration, for instance `telegram:5001`. */
  entry: z.string(),
  /** Display name, if the person is known from messages. */
  label: z.optional(z.string()),
});
export type ConfiguredPerson = z.infer<typeof ConfiguredPerson>;

/** Response of `GET /api/pairings`. */
export const PairingList = z.object({
  pending: z.array(PairingRequest),
  paired: z.array(PairedPerson),
  /** `access.owners` of the configuration in effect. */
  owners: z.array(ConfiguredPerson),
  /** `access.allow` of the configuration in effect. */
  allowed: z.array(ConfiguredPerson),
});
export type PairingList = z.infer<typeof PairingList>;

/** Body of `POST /api/pairings/approve`. The response is a {@link PairedPerson}, or 404 if no request has the code. */
export const PairingApproval = z.strictObject({ code: z.string().check(z.minLength(1)) });
export type PairingApproval = z.infer<typeof PairingApproval>;

/** Response of `POST /api/sign-in-links`, which requires an owner's token: a link that signs a browser in once. */
export const SignInLink = z.object({ secret: z.string(), expiresAt: z.number() });
export type SignInLink = z.infer<typeof SignInLink>;

/** A schedule, or the heartbeat of an agent. */
export const ScheduleInfo = z.object({
  /** `heartbeat` for the heartbeat of an agent. */
  id: z.string(),
  agent: z.string(),
  /** Absent for a heartbeat, whose session is determined when it is due. */
  session: z.optional(z.string()),
  /** The conversation in which its answers appear. Absent for a heartbeat. People choose names. */
  place: z.optional(
    z.object({
      channel: z.string(),
      /** `direct`, `group` or `channel`. */
      kind: z.string(),
      id: z.string(),
      /** Title of a group, or name of the person in a direct chat. */
      name: z.optional(z.string()),
    }),
  ),
  /** Description of the times, for instance `every day at 09:00`. */
  when: z.string(),
  nextAt: z.number(),
  lastAt: z.optional(z.number()),
  /** Handling of times that passed while the gateway was not running. `once` runs the last of them late. */
  missed: z.enum(["once", "skip"]),
  text: z.string(),
  /** True if it is paused. It then runs only when a person triggers it. */
  paused: z.optional(z.boolean()),
  /** The message of its latest run. */
  last: z.optional(
    z.object({
      messageId: z.string(),
      at: z.number(),
      /** A state of {@link MessageInfo}, such as `replied` or `failed-reported`. */
      state: z.string(),
      reason: z.optional(z.string()),
    }),
  ),
});
export type ScheduleInfo = z.infer<typeof ScheduleInfo>;

/** Response of `GET /api/schedules`, soonest first. */
export const ScheduleList = z.object({ schedules: z.array(ScheduleInfo) });
export type ScheduleList = z.infer<typeof ScheduleList>;

/** Body of `POST /api/schedules/:id/pause`. The response is 204, or 404 if there is no such schedule. */
export const SchedulePause = z.strictObject({ paused: z.boolean() });
export type SchedulePause = z.infer<typeof SchedulePause>;

/** Body of `POST /api/schedules`, with exactly one of `at`, `in`, `every` and `cron`. */
export const NewSchedule = z.strictObject({
  /** The text that the agent receives. */
  text: z.string().check(z.minLength(1), z.maxLength(4_000)),
  at: z.optional(z.string().check(z.maxLength(100))),
  in: z.optional(z.string().check(z.maxLength(100))),
  every: z.optional(z.string().check(z.maxLength(100))),
  cron: z.optional(z.string().check(z.maxLength(200))),
  zone: z.optional(z.string().check(z.maxLength(100))),
  /** Default: `once`. */
  missed: z.optional(z.enum(["once", "skip"])),
  /** Key of the session that receives the reply. An owner must have written in it. */
  session: z.optional(z.string()),
  /** Without `session`: the agent whose conversation on the web page receives the reply. Default: the default agent. */
  agent: z.optional(z.string()),
});
export type NewSchedule = z.infer<typeof NewSchedule>;

/** Response of `POST /api/schedules`: the new schedule, or the reason why it was not created. */
export const ScheduleResult = z.union([
  z.object({ ok: z.literal(true), schedule: ScheduleInfo }),
  z.object({ ok: z.literal(false), message: z.string() }),
]);
export type ScheduleResult = z.infer<typeof ScheduleResult>;

/**
 * Response of `POST /api/schedules/:id/run`, or 404 if there is no such schedule. `later`: the gateway currently
 * accepts no messages.
 */
export const ScheduleRun = z.object({ outcome: z.enum(["taken", "later"]) });
export type ScheduleRun = z.infer<typeof ScheduleRun>;
