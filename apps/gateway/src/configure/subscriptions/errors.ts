import { reasonOf } from "@signalbox/agent-core";
import { FailureError, failure } from "@signalbox/llm-providers";

/** Time limit of each request to an authorization server, in milliseconds. */
export const REQUEST_MS = 15_000;
/** Maximum length of a token. It has to fit into a header. */
const MAX_TOKEN_CHARS = 8_192;

/** A sign-in failed. The message contains no secret. */
export class SubscriptionError extends Error {
  override readonly name = "SubscriptionError";
  /** True if only a new sign-in helps. */
  readonly isFinal: boolean;

  constructor(message: string, isFinal = false) {
    super(message);
    this.isFinal = isFinal;
  }
}

/** Reason why a vendor refuses a subscription. Only an operator can change it. */
export interface Refusal {
  readonly code: "auth" | "billing";
  readonly reason: string;
  /** Default: a new sign-in. */
  readonly remedy?: string;
}

/** A refusal that a vendor's message identifies. The statuses have changed over time. */
export interface KnownRefusal extends Refusal {
  readonly words: RegExp;
}

/**
 * Creates the failure of a model request. It is not retried, and only fallbacks of other providers are tried. The scope
 * `provider` has no cooldown, so a new sign-in works at once.
 */
export function refuse(provider: string, { code, reason, remedy }: Refusal): FailureError {
  const what = remedy ?? `An operator can run \`signalbox models login ${provider}\`.`;
  const status = code === "auth" ? 401 : 402;
  return new FailureError({
    ...failure(code, `${provider}: ${reason}. ${what}`, { status }),
    scope: "provider",
  });
}

/** Replaces an error, whose cause could contain a token, with its description. */
export async function describeErrors<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof SubscriptionError) throw error;
    throw new SubscriptionError(`${what}: ${getErrorCode(error) ?? reasonOf(error)}`);
  }
}

/** Returns the OAuth error code (RFC 6749) of a response, if any. A forged one can contain any text. */
export function getErrorCode(error: unknown): string | undefined {
  const code: unknown = error instanceof Error ? Reflect.get(error, "error") : undefined;
  return typeof code === "string" && /^[a-z_]{1,40}$/.test(code) ? code : undefined;
}

/** Returns true if a token can be sent in a header. */
export function isHeaderValue(token: string): boolean {
  return token.length <= MAX_TOKEN_CHARS && /^[\x21-\x7e]+$/.test(token);
}
