import {
  ChannelError,
  type ChannelErrorCode,
  type ChannelErrorScope,
  describeFailedRequest,
  failedToConnect,
  isChannelError,
} from "@signalbox/channel";
import { loadRest } from "./sdk.ts";

type Refusal = readonly [ChannelErrorCode, ChannelErrorScope?];

/** Source: "JSON Error Codes". */
const codes: Readonly<Record<number, Refusal>> = {
  10003: ["not_found", "conversation"],
  10004: ["not_found", "conversation"],
  10008: ["not_found"],
  10013: ["not_found"],
  10014: ["unsupported"],
  10015: ["not_found"],
  10062: ["not_found"],
  20016: ["rate_limited", "conversation"],
  20022: ["rate_limited", "conversation"],
  20026: ["permission", "account"],
  20028: ["rate_limited", "conversation"],
  30010: ["invalid"],
  30046: ["permission"],
  40001: ["auth", "account"],
  40002: ["permission", "account"],
  40005: ["too_large"],
  40060: ["invalid"],
  40062: ["rate_limited", "account"],
  50001: ["permission", "conversation"],
  50005: ["permission"],
  50006: ["invalid"],
  50007: ["permission", "conversation"],
  50008: ["unsupported", "conversation"],
  50013: ["permission", "conversation"],
  50014: ["auth", "account"],
  50024: ["unsupported", "conversation"],
  50027: ["not_found"],
  50035: ["invalid"],
  50083: ["permission", "conversation"],
  130000: ["transient", "account"],
  160005: ["permission", "conversation"],
  240000: ["invalid"],
};

/** Default delay in milliseconds if Discord does not send one. */
const defaultWaitMs = 1_000;

interface CallFacts {
  readonly what: string;
  /** True if the call changes state, so that a missing response leaves its outcome unknown. */
  readonly isWrite: boolean;
}

/** Converts any error of a call to a {@link ChannelError}. Drops fields that can contain tokens, such as URLs. */
export function toChannelError(error: unknown, facts: CallFacts): ChannelError {
  if (isChannelError(error)) return error;
  const { DiscordAPIError, HTTPError, RateLimitError } = loadRest();
  const describe = (reason: string): string => `Discord: ${facts.what}: ${reason}`;
  if (error instanceof RateLimitError) {
    return new ChannelError("rate_limited", describe("rate limited"), {
      scope: error.global ? "account" : "conversation",
      retryAfterMs: getWaitMs(error),
    });
  }
  if (error instanceof DiscordAPIError) {
    const code = Number(error.code);
    const [kind, scope] = codes[code] ?? classifyStatus(error.status, facts.isWrite);
    return new ChannelError(kind, describe(error.message.replaceAll("\n", " ")), {
      scope: scope ?? "message",
      settings: kind === "auth" ? ["token"] : undefined,
      platformCode: Number.isInteger(code) && code !== 0 ? String(code) : undefined,
      retryAfterMs: kind === "rate_limited" ? defaultWaitMs : undefined,
    });
  }
  if (error instanceof HTTPError) {
    const [kind, scope] = classifyStatus(error.status, facts.isWrite);
    return new ChannelError(kind, describe(`HTTP ${error.status}`), {
      scope: scope ?? "message",
      settings: kind === "auth" ? ["token"] : undefined,
    });
  }
  const isOpen = facts.isWrite && !failedToConnect(error);
  const reason = describeFailedRequest(error) ?? (error instanceof Error ? error.message : "no response");
  return new ChannelError(isOpen ? "unknown_outcome" : "transient", describe(reason), {
    scope: "account",
    cause: error,
  });
}

function classifyStatus(status: number, isWrite: boolean): Refusal {
  if (status === 401) return ["auth", "account"];
  if (status === 403) return ["permission"];
  if (status === 404) return ["not_found"];
  if (status === 413) return ["too_large"];
  if (status === 429) return ["rate_limited", "account"];
  if (status >= 500) return [isWrite ? "unknown_outcome" : "transient", "account"];
  return ["invalid"];
}

function getWaitMs({
  retryAfter,
  timeToReset,
}: {
  readonly retryAfter: number;
  readonly timeToReset: number;
}): number {
  const wait = retryAfter > 0 ? retryAfter : timeToReset;
  return Number.isFinite(wait) && wait > 0 ? Math.ceil(wait) : defaultWaitMs;
}
