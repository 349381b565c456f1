import * as z from "zod/mini";
import { MessageInfo, Trace } from "./bodies.ts";

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

/** `GET /api/why/:messageId`: what became of a message, and the notes that say so. */
export const Why = z.object({
  trace: Trace,
  /** What became of it, and by which rule. */
  sentence: z.string(),
  /** What a model's provider said last, where that is why. */
  said: z.exactOptional(z.string()),
  /** What to do where that is not as wanted. */
  remedy: z.exactOptional(z.string()),
});
export type Why = z.infer<typeof Why>;

/** A person on one account of a channel. */
export const Person = z.strictObject({ channel: z.string(), account: z.string(), peer: z.string() });
export type Person = z.infer<typeof Person>;

/** Somebody who was sent a code and waits for an owner to take it. */
export const PairingRequest = z.extend(Person, {
  /** What the platform calls them. */
  label: z.exactOptional(z.string()),
  expiresAt: z.number(),
});
export type PairingRequest = z.infer<typeof PairingRequest>;

/** Somebody who was let in. */
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

/** `POST /api/sign-in-links`, for whoever sends an owner's token: what signs a browser in once. */
export const SignInLink = z.object({ secret: z.string(), expiresAt: z.number() });
export type SignInLink = z.infer<typeof SignInLink>;
