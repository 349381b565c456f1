import type { BearerVendor } from "./bearer-fetch.ts";
import type { CredentialsOf } from "./credentials.ts";
import { isHeaderValue, type KnownRefusal, SubscriptionError } from "./errors.ts";

export const CLAUDE_URL = "https://api.anthropic.com";

/** The API requires this beta for tokens of Claude accounts. */
const OAUTH_BETA = "oauth-2025-04-20";
/** A token of `claude setup-token` is valid for one year. Source: https://code.claude.com/docs/en/authentication */
const LIFETIME_MS = 365 * 24 * 3_600_000;
/** The form of a setup token. API keys start with `sk-ant-api`. */
const SETUP_TOKEN = /^sk-ant-oat\d{2}-[\w-]{20,}$/;

/** Returns true for the token that `claude setup-token` prints. */
export function isSetupToken(text: string): boolean {
  return SETUP_TOKEN.test(text) && isHeaderValue(text);
}

/**
 * Reads a pasted token. Terminals wrap long lines, so spaces and line breaks inside it are removed.
 *
 * @throws SubscriptionError if it is no setup token. The message does not contain it.
 */
export function readSetupToken(
  pasted: string,
  now: number,
): Pick<CredentialsOf<"claude">, "subscription" | "accessToken" | "expiresAt"> {
  const accessToken = pasted.replace(/\s+/g, "");
  if (isSetupToken(accessToken)) return { subscription: "claude", accessToken, expiresAt: now + LIFETIME_MS };
  const isKey = accessToken.startsWith("sk-ant-api");
  throw new SubscriptionError(
    isKey
      ? "this is an API key. Set it as `apiKey` of a provider without `subscription`"
      : "this is no setup token. Run `claude setup-token` and paste the whole token, which starts with sk-ant-oat01-",
  );
}

const REFUSALS: readonly KnownRefusal[] = [
  {
    // Since April 2026, for all programs of other vendors: "Third-party apps now draw from your extra usage, …".
    words: /third-party apps\b.{0,200}\bextra usage/is,
    code: "billing",
    reason: "Anthropic charges other programs to the extra usage of the account, which is off or used up",
    remedy: "Turn it on or add to it at https://claude.ai/settings/usage, or use a model with an API key.",
  },
  {
    words: /only authorized for use with Claude Code/i,
    code: "auth",
    reason: "Anthropic accepts this token only from Claude Code",
    remedy: "Use a model with an API key.",
  },
  {
    words: /OAuth authentication is currently not (?:allowed|supported)/i,
    code: "auth",
    reason: "Anthropic does not accept tokens of this account or organization",
    remedy: "Check the plan at https://claude.ai/settings, or use a model with an API key.",
  },
  { words: /OAuth token has expired/i, code: "auth", reason: "the setup token has expired" },
  { words: /OAuth token has been revoked/i, code: "auth", reason: "the setup token was revoked" },
];

/** Anthropic's Messages API for a Claude plan. */
export const claude: BearerVendor = {
  addHeaders(headers) {
    const betas = headers.get("anthropic-beta")?.split(",") ?? [];
    const wanted = new Set([...betas.map((beta) => beta.trim()).filter(Boolean), OAUTH_BETA]);
    headers.set("anthropic-beta", [...wanted].join(","));
  },
  explain(status, body) {
    const refusal = REFUSALS.find(({ words }) => words.test(body));
    if (refusal !== undefined) return refusal;
    if (status !== 401 && status !== 403) return undefined;
    return { code: "auth", reason: "Anthropic refuses the setup token and may have ended this access" };
  },
};
