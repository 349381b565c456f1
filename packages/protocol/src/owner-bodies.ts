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
  /** The other side: a person's, group's or conversation's id. */
  peer: z.string(),
  /** `direct`, `group`, … */
  kind: z.string(),
  title: z.exactOptional(z.string()),
  updatedAt: z.number(),
  /** Messages that the model is shown again. */
  messages: z.number(),
  /** Over all that was ever said in it. */
  tokens: z.number(),
  costMicros: z.number(),
  /** A run goes on in it. */
  busy: z.boolean(),
});
export type SessionInfo = z.infer<typeof SessionInfo>;

/** `GET /api/sessions`, the latest first. */
export const SessionList = z.object({ sessions: z.array(SessionInfo) });
export type SessionList = z.infer<typeof SessionList>;

/** `GET /api/messages`, the latest of all channels first; `?session=` names the session whose messages they are. */
export const MessageList = z.object({ messages: z.array(MessageInfo) });
export type MessageList = z.infer<typeof MessageList>;

/** The query of `GET /api/why/:messageId`: in which language its words are. */
export const WhyQuery = z.object({ language: z._default(Language, "en") });
export type WhyQuery = z.infer<typeof WhyQuery>;

/** `GET /api/why/:messageId`: what happened to a message, and the notes about it. */
export const Why = z.object({
  trace: Trace,
  /** What happened to it, and by which rule. */
  sentence: z.string(),
  /** What was noted of its model last: which one answered, or what its provider said. */
  said: z.exactOptional(z.string()),
  /** What to do where that is not as wanted. */
  remedy: z.exactOptional(z.string()),
});
export type Why = z.infer<typeof Why>;

/** A person on one account of a channel. */
export const Person = z.strictObject({ channel: z.string(), account: z.string(), peer: z.string() });
export type Person = z.infer<typeof Person>;

/** A person who was sent a code and waits for an owner to approve it. */
export const PairingRequest = z.extend(Person, {
  /** What the platform calls them. */
  label: z.exactOptional(z.string()),
  expiresAt: z.number(),
});
export type PairingRequest = z.infer<typeof PairingRequest>;

/** A person who was let in. */
export const PairedPerson = z.extend(Person, {
  label: z.exactOptional(z.string()),
  approvedAt: z.number(),
  approvedBy: z.string(),
});
export type PairedPerson = z.infer<typeof PairedPerson>;

/** `GET /api/pairings`. */
export const PairingList = z.object({
  pending: z.array(PairingRequest),
  paired: z.array(PairedPerson),
});
export type PairingList = z.infer<typeof PairingList>;

/** `POST /api/pairings/approve`, answered with the person; 404 where no open request has the code. */
export const PairingApproval = z.strictObject({ code: z.string().check(z.minLength(1)) });
export type PairingApproval = z.infer<typeof PairingApproval>;

/** `POST /api/sign-in-links`, for an owner's token: a link that signs a browser in once. */
export const SignInLink = z.object({ secret: z.string(), expiresAt: z.number() });
export type SignInLink = z.infer<typeof SignInLink>;

/** Something that an agent is to do by itself. Times are milliseconds since the epoch. */
export const ScheduleInfo = z.object({
  /** `heartbeat` for that of an agent, which its configuration has. */
  id: z.string(),
  agent: z.string(),
  /** Absent for a heartbeat, which goes where it is to go by then. */
  session: z.exactOptional(z.string()),
  /** In words. */
  when: z.string(),
  nextAt: z.number(),
  lastAt: z.exactOptional(z.number()),
  /** What happens to times that pass while no gateway runs: the last one comes late, or none does. */
  missed: z.enum(["once", "skip"]),
  text: z.string(),
});
export type ScheduleInfo = z.infer<typeof ScheduleInfo>;

/** `GET /api/schedules`, the soonest first. */
export const ScheduleList = z.object({ schedules: z.array(ScheduleInfo) });
export type ScheduleList = z.infer<typeof ScheduleList>;

/** `POST /api/schedules`: exactly one of `at`, `in`, `every` and `cron`. */
export const NewSchedule = z.strictObject({
  /** The text for the agent when it is due. */
  text: z.string().check(z.minLength(1), z.maxLength(4_000)),
  at: z.exactOptional(z.string().check(z.maxLength(100))),
  in: z.exactOptional(z.string().check(z.maxLength(100))),
  every: z.exactOptional(z.string().check(z.maxLength(100))),
  cron: z.exactOptional(z.string().check(z.maxLength(200))),
  zone: z.exactOptional(z.string().check(z.maxLength(100))),
  /** Default: `once`. */
  missed: z.exactOptional(z.enum(["once", "skip"])),
  /** Whose conversation hears of it, where it is one in which an owner has written. */
  session: z.exactOptional(z.string()),
  /** Without a session: whose conversation on the web page it is. Default: the default agent's. */
  agent: z.exactOptional(z.string()),
});
export type NewSchedule = z.infer<typeof NewSchedule>;

/** The answer: what is on record now, or why nothing is. */
export const ScheduleAnswer = z.union([
  z.object({ ok: z.literal(true), schedule: ScheduleInfo }),
  z.object({ ok: z.literal(false), message: z.string() }),
]);
export type ScheduleAnswer = z.infer<typeof ScheduleAnswer>;

/** `POST /api/schedules/:id/run`; `later` where the gateway takes nothing just now; 404 where there is none. */
export const ScheduleRun = z.object({ outcome: z.enum(["taken", "later"]) });
export type ScheduleRun = z.infer<typeof ScheduleRun>;
