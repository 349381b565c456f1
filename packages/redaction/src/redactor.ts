/** Looks like a credential wherever it stands: vendor keys, bearer tokens, bot tokens. */
const SECRET_SHAPES =
  /\b(?:sk|pk|rk|xox[abeprs]|xapp|ghp|gho|ghs|github_pat|AIza)[-_][A-Za-z0-9_-]{12,}|\bBearer\s+[A-Za-z0-9._~+/-]{12,}=*|\bAIza[A-Za-z0-9_-]{30,}/g;

/** Characters below which a secret is taken out only where it stands by itself: it may be part of many words. */
const SHORT = 6;

/** A text without the secrets in it. */
export type Redact = (text: string) => string;

/** Replaces these secrets, and whatever looks like one, before text leaves the process. */
export function createRedactor(secrets: readonly string[]): Redact {
  const values = [...new Set(secrets)].filter((secret) => secret !== "").sort((a, b) => b.length - a.length);
  const patterns = values.flatMap((secret) => {
    const inJson = JSON.stringify(secret).slice(1, -1);
    return (inJson === secret ? [secret] : [secret, inJson]).map((text) => {
      const literal = text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
      return secret.length < SHORT
        ? `(?:(?<![\\p{L}\\p{N}_])|(?<=\\\\[bfnrt]))${literal}(?![\\p{L}\\p{N}_])`
        : literal;
    });
  });
  const pattern = patterns.length > 0 ? new RegExp(patterns.join("|"), "gu") : undefined;
  return (text) => {
    const withoutValues = pattern ? text.replace(pattern, "[redacted]") : text;
    return withoutValues.replace(SECRET_SHAPES, "[redacted]");
  };
}
