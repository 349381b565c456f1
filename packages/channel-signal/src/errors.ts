import {
  ChannelError,
  type ChannelErrorCode,
  type ChannelErrorScope,
  objectAt,
  objectsAt,
  type Payload,
  textAt,
} from "@signalbox/channel";
import { limits } from "./limits.ts";

/** Meaning of an error: its code, its scope, and a remedy for people. */
interface Meaning {
  readonly code: ChannelErrorCode;
  readonly scope?: ChannelErrorScope;
  readonly remedy?: string;
}

const NO_ACCOUNT: Meaning = {
  code: "auth",
  scope: "account",
  remedy: "Register or link the account again with signal-cli",
};
const UNTRUSTED: Meaning = {
  code: "permission",
  scope: "conversation",
  remedy: "The person's safety number has changed. Compare it and accept it with `signal-cli trust`",
};
const UNREGISTERED: Meaning = { code: "not_found", scope: "conversation" };

/** Exceptions and messages for which signal-cli has no error code. Source: `SendCommand` and `CommandUtil`. */
const messages: readonly (readonly [RegExp, Meaning])[] = [
  [/AuthorizationFailedException|NotRegisteredException|account does not exist/i, NO_ACCOUNT],
  [/valid account parameter/i, NO_ACCOUNT],
  [/not a member|not allowed|is blocked/i, { code: "permission", scope: "conversation" }],
  [/not registered|group not found|invalid group id|invalid (?:phone )?number/i, UNREGISTERED],
  [/could not find (?:attachment|sticker)/i, { code: "not_found" }],
  [/\[413\]|too large/i, { code: "too_large" }],
  [/AttachmentInvalid|NoSuchFile|FileNotFound|AccessDenied/i, { code: "invalid" }],
];

/** Results of single recipients. Source: `JsonSendMessageResult`. */
const results: Readonly<Record<string, Meaning>> = {
  UNREGISTERED_FAILURE: UNREGISTERED,
  IDENTITY_FAILURE: UNTRUSTED,
  INVALID_PRE_KEY_FAILURE: { code: "permission", scope: "conversation" },
  RATE_LIMIT_FAILURE: { code: "rate_limited", scope: "account" },
};

const RATE_LIMIT_ERROR = -5;
/** Error codes. Source: `SignalJsonRpcCommandHandler`. */
const codes: Readonly<Record<number, Meaning>> = {
  [RATE_LIMIT_ERROR]: { code: "rate_limited", scope: "account" },
  [-4]: UNTRUSTED,
  [-1]: { code: "invalid" },
  [-32600]: { code: "invalid" },
  [-32601]: { code: "unsupported", remedy: "Update signal-cli" },
  [-32602]: { code: "invalid" },
  [-32700]: { code: "invalid" },
};

/**
 * Converts an error response of signal-cli.
 *
 * @param write true if the call has visible effects. Other errors than the known ones then leave its outcome unknown,
 * for instance a network failure between signal-cli and Signal.
 */
export function toError(error: Payload, what: string, write: boolean): ChannelError {
  const number = typeof error["code"] === "number" ? error["code"] : 0;
  const reason = textAt(error, "message") ?? "no reason given";
  const recipients = objectsAt(objectAt(objectAt(error, "data"), "response"), "results");
  const meaning = findMeaning(number, reason, recipients) ?? {
    code: write ? "unknown_outcome" : "transient",
  };
  const { code, scope = "message", remedy } = meaning;
  const text = `Signal: ${what}: ${reason.slice(0, 300)} (${number})${remedy === undefined ? "" : `. ${remedy}.`}`;
  return new ChannelError(code, text, {
    scope,
    platformCode: String(number),
    settings: code === "auth" ? ["account"] : undefined,
    retryAfterMs: code === "rate_limited" ? findWait(recipients) : undefined,
  });
}

function findMeaning(number: number, reason: string, recipients: readonly Payload[]): Meaning | undefined {
  const types = recipients.flatMap((recipient) => textAt(recipient, "type") ?? []);
  // After a network failure, the message may have been sent.
  if (types.includes("NETWORK_FAILURE")) return undefined;
  const [type] = types.filter((one) => one !== "SUCCESS");
  const meaning = type === undefined ? undefined : results[type];
  if (meaning !== undefined) return meaning;
  return messages.find(([pattern]) => pattern.test(reason))?.[1] ?? codes[number];
}

function findWait(recipients: readonly Payload[]): number {
  const seconds = recipients.map((recipient) => recipient["retryAfterSeconds"]);
  const known = seconds.filter((one) => typeof one === "number" && one > 0).map(Number);
  return known.length === 0 ? limits.rateWaitMs : Math.max(...known) * 1_000;
}
