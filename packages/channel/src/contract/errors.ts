import type { Receipt } from "./messages.ts";

export const channelErrorCodes = [
  "rate_limited",
  "auth",
  "permission",
  "not_found",
  "too_large",
  "unsupported",
  "invalid",
  "transient",
  "unknown_outcome",
] as const;

/**
 * - `rate_limited`: too many requests. Retry after `retryAfterMs`.
 * - `auth`: the credentials are invalid. Nothing works until they are replaced.
 * - `permission`: the account is not permitted to do this here.
 * - `not_found`: the conversation, message or person does not exist, or no longer exists.
 * - `too_large`: the content exceeds a limit of the platform.
 * - `unsupported`: the channel cannot do this at all.
 * - `invalid`: the platform rejects the content and would reject it again.
 * - `transient`: nothing was done. Retry.
 * - `unknown_outcome`: the request may have been carried out, for instance because the response was lost.
 */
export type ChannelErrorCode = (typeof channelErrorCodes)[number];

export const channelErrorScopes = ["message", "conversation", "account"] as const;

/** The scope of an error: one message, its conversation, or the whole account. */
export type ChannelErrorScope = (typeof channelErrorScopes)[number];

export interface ChannelErrorOptions {
  /** Delay before a retry in milliseconds. */
  readonly retryAfterMs?: number | undefined;
  /** Default: `message`. */
  readonly scope?: ChannelErrorScope | undefined;
  /** The platform's error code, for people and logs. */
  readonly platformCode?: string | undefined;
  /**
   * Names of the settings that the platform may refuse, such as `botToken`. A host shows their labels and hints.
   * Default: unknown.
   */
  readonly settings?: readonly string[] | undefined;
  /** The parts that were sent before the error. */
  readonly receipt?: Receipt | undefined;
  readonly cause?: unknown;
}

const MARK = Symbol.for("signalbox.channel.error");

/**
 * The only error that channels throw deliberately. Test for it with {@link isChannelError}, which also recognizes
 * errors from another installed copy of this package.
 */
export class ChannelError extends Error {
  override readonly name = "ChannelError";
  readonly code: ChannelErrorCode;
  readonly scope: ChannelErrorScope;
  readonly retryAfterMs: number | undefined;
  readonly platformCode: string | undefined;
  readonly settings: readonly string[] | undefined;
  readonly receipt: Receipt | undefined;

  constructor(code: ChannelErrorCode, message: string, options: ChannelErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.scope = options.scope ?? "message";
    this.retryAfterMs = options.retryAfterMs;
    this.platformCode = options.platformCode;
    this.settings = options.settings;
    this.receipt = options.receipt;
    Object.defineProperty(this, MARK, { value: true });
  }
}

/** Returns true if an error is a {@link ChannelError}, from this or another copy of the package. */
export function isChannelError(error: unknown): error is ChannelError {
  return error instanceof Error && MARK in error;
}

/** Returns the message of an error, or the string form of any other thrown value. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const NOT_RETRYABLE: readonly ChannelErrorCode[] = [
  "permission",
  "not_found",
  "too_large",
  "unsupported",
  "invalid",
];

/** Returns true if the same request may succeed later. `auth` is retryable because an operator may fix the account. */
export function isRetryable(error: unknown): boolean {
  return !isChannelError(error) || !NOT_RETRYABLE.includes(error.code);
}

/**
 * Returns a fallback if a request is refused.
 *
 * @returns the result of the request, or `fallback` if it failed with an error that is not retryable
 * @throws the error if it is retryable
 */
export async function catchRefusal<T, Fallback>(
  request: Promise<T>,
  fallback: Fallback,
): Promise<T | Fallback> {
  try {
    return await request;
  } catch (error) {
    if (isRetryable(error)) throw error;
    return fallback;
  }
}
