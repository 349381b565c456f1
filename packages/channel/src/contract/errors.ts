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
 * - `rate_limited`: wait `retryAfterMs`, then again.
 * - `auth`: the account's credentials are refused; nothing works until somebody mends them.
 * - `permission`: this account may not do that here.
 * - `not_found`: the conversation, message or person does not exist (any more).
 * - `too_large`: more than the platform takes.
 * - `unsupported`: the channel cannot do that at all.
 * - `invalid`: the platform refuses what was sent; the same again will be refused again.
 * - `transient`: certainly not done, try again.
 * - `unknown_outcome`: may have been done, nobody can tell from the answer.
 */
export type ChannelErrorCode = (typeof channelErrorCodes)[number];

export const channelErrorScopes = ["message", "conversation", "account"] as const;

/** What an error holds for: this one message, its conversation, or the whole account. */
export type ChannelErrorScope = (typeof channelErrorScopes)[number];

export interface ChannelErrorOptions {
  /** Not before that many milliseconds. */
  readonly retryAfterMs?: number | undefined;
  /** Default `message`. */
  readonly scope?: ChannelErrorScope | undefined;
  /** The platform's own error code, for people and logs. */
  readonly platformCode?: string | undefined;
  /** The parts already sent, if a send failed after the first. */
  readonly receipt?: Receipt | undefined;
  readonly cause?: unknown;
}

const MARK = Symbol.for("signalbox.channel.error");

/**
 * The only error that channels throw. Recognise it with {@link isChannelError}, which also works across installed
 * copies of this package.
 */
export class ChannelError extends Error {
  override readonly name = "ChannelError";
  readonly code: ChannelErrorCode;
  readonly scope: ChannelErrorScope;
  readonly retryAfterMs: number | undefined;
  readonly platformCode: string | undefined;
  readonly receipt: Receipt | undefined;

  constructor(code: ChannelErrorCode, message: string, options: ChannelErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.scope = options.scope ?? "message";
    this.retryAfterMs = options.retryAfterMs;
    this.platformCode = options.platformCode;
    this.receipt = options.receipt;
    Object.defineProperty(this, MARK, { value: true });
  }
}

/** Whether `error` is a {@link ChannelError}, of this copy of the package or another. */
export function isChannelError(error: unknown): error is ChannelError {
  return error instanceof Error && MARK in error;
}

/** What was thrown, in words: for logs, `health` and other errors. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const lasting: readonly ChannelErrorCode[] = ["permission", "not_found", "unsupported", "invalid"];

/** Whether the same request would be refused again, so that there is no use in waiting. */
export function isLasting(error: unknown): boolean {
  return isChannelError(error) && lasting.includes(error.code);
}

/** The requested value, or `instead` if the request would be refused again. A passing failure is thrown. */
export async function unlessRefused<T, Instead>(asked: Promise<T>, instead: Instead): Promise<T | Instead> {
  try {
    return await asked;
  } catch (error) {
    if (isLasting(error)) return instead;
    throw error;
  }
}
