import {
  type ChannelErrorCode,
  type ErrorMeaning,
  type ErrorResponse,
  type Payload,
  textAt,
} from "@signalbox/channel";

/** The settings with which an app authenticates. */
export const CREDENTIALS: readonly string[] = ["clientId", "clientSecret"];

/** The code of a token that is no longer valid. */
export const STALE_TOKEN = "InvalidAuthentication";

type Meaning = readonly [code: ChannelErrorCode, scope?: "conversation" | "account"];

/**
 * Meanings of DingTalk's error codes, which look like `Forbidden.AccessDenied.QpsLimitForApi`. The first match counts.
 * A rate limit is refused with HTTP 403, like a missing permission.
 */
const meanings: readonly (readonly [RegExp, Meaning])[] = [
  [/QpsLimit|TooManyRequests|throttl|FlowControl/i, ["rate_limited", "account"]],
  [/InvalidAuthentication|authFailed|invalidClientIdOrSecret|invalidAppKey/i, ["auth", "account"]],
  [/AccessTokenPermissionDenied|AccessDenied/i, ["permission"]],
  [/robotCode\.(?:auth|empty|invalid)/i, ["permission", "account"]],
  [
    /staffId|openConversationId|openSpaceId|robot\.not|resource\.not\.found|chatbotNot/i,
    ["not_found", "conversation"],
  ],
  [/over(?:Length|Max)|too(?:Long|Large)/i, ["too_large"]],
  [/not.?(?:exist|found)/i, ["not_found"]],
];

/** Interprets an error of api.dingtalk.com: `{ code, message, requestid }`. */
export function readError({ payload = {} }: ErrorResponse): ErrorMeaning {
  const platformCode = textAt(payload, "code");
  if (platformCode === undefined) return {};
  const [code, scope] = meanings.find(([pattern]) => pattern.test(platformCode))?.[1] ?? [];
  return { code, scope, platformCode, reason: textAt(payload, "message") };
}

const OLD_CODES: Readonly<Record<number, Meaning>> = {
  40001: ["auth", "account"],
  40014: ["auth", "account"],
  42001: ["auth", "account"],
  40006: ["too_large"],
  60011: ["permission"],
  90018: ["rate_limited", "account"],
};

/** Finds the error of oapi.dingtalk.com in a response with status 200: `{ errcode, errmsg }`. */
export function findOldError(payload: Payload): ErrorMeaning | undefined {
  const { errcode } = payload;
  if (typeof errcode !== "number" || errcode === 0) return undefined;
  const [code, scope]: Meaning = OLD_CODES[errcode] ?? ["invalid"];
  const isStale = errcode === 40014 || errcode === 42001;
  return {
    code,
    scope,
    platformCode: isStale ? STALE_TOKEN : String(errcode),
    reason: textAt(payload, "errmsg"),
  };
}
