import {
  type ChannelErrorCode,
  type ChannelErrorScope,
  type ErrorMeaning,
  type ErrorResponse,
  isPayload,
  objectAt,
  type Payload,
  textAt,
} from "@signalbox/channel";

type Class = readonly [ChannelErrorCode, ChannelErrorScope?];

const AUTH: Class = ["auth", "account"];
const CONTENT: Class = ["invalid"];

/** Source: "WhatsApp error codes" and "Handling errors" of the Graph API. Other codes are read by their HTTP status. */
const CLASSES: ReadonlyMap<number, Class> = new Map<number, Class>([
  [0, AUTH],
  [3, AUTH],
  [10, AUTH],
  [33, ["not_found"]],
  [190, AUTH],
  [368, AUTH],
  [4, ["rate_limited", "account"]],
  [80007, ["rate_limited", "account"]],
  [130429, ["rate_limited", "account"]],
  [131048, ["rate_limited", "account"]],
  [131056, ["rate_limited", "conversation"]],
  [131016, ["transient", "account"]],
  [100, CONTENT],
  [131008, CONTENT],
  [131009, CONTENT],
  [131021, CONTENT],
  [131051, ["unsupported"]],
  [131052, ["not_found"]],
  [131053, CONTENT],
  [130472, ["permission", "conversation"]],
  [131026, ["not_found", "conversation"]],
  [131030, ["permission", "conversation"]],
  [131047, ["permission", "conversation"]],
  [131049, ["permission", "conversation"]],
  [131050, ["permission", "conversation"]],
  [131005, AUTH],
  [131031, AUTH],
  [131037, AUTH],
  [131042, AUTH],
  [131045, AUTH],
  [133010, AUTH],
]);

/** Explanations for codes whose own text does not help. */
const REASONS: ReadonlyMap<number, string> = new Map([
  // Meta's own text contains the access token.
  [190, "the access token is invalid, expired or revoked"],
  [
    131047,
    "the person's last message is more than 24 hours old, and WhatsApp then accepts only approved message templates, which this channel does not send. The person must write first",
  ],
  [131030, "the number is a test number, and this person is not in its list of allowed recipients"],
]);

/** Converts an error response of the Graph API. */
export function readError({ status, payload }: ErrorResponse): ErrorMeaning {
  const error = objectAt(payload ?? {}, "error");
  // Error pages of proxies are read by their HTTP status.
  return isPayload(payload?.["error"]) ? toMeaning(error, status) : {};
}

/** Converts an error object of a response, or of a status webhook. */
export function toMeaning(error: Payload, status?: number): ErrorMeaning {
  const code = typeof error["code"] === "number" ? error["code"] : undefined;
  if (code === undefined) return {};
  const [channelCode, scope] = classify(code, status) ?? [];
  const details = textAt(objectAt(error, "error_data"), "details");
  const reason = REASONS.get(code) ?? details ?? textAt(error, "message") ?? textAt(error, "title");
  return { code: channelCode, scope, reason, platformCode: String(code) };
}

function classify(code: number, status: number | undefined): Class | undefined {
  // 200 to 299: the token lacks a permission.
  if (code >= 200 && code < 300) return AUTH;
  const known = CLASSES.get(code);
  // A server error with any code may occur after the message was accepted.
  const isDoubtful = status !== undefined && status >= 500 && code !== 131016;
  return isDoubtful ? undefined : known;
}
