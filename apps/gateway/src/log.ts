import { type Logger, pino } from "pino";

export type { Logger } from "pino";

/** Looks like a credential wherever it stands: vendor keys, bearer tokens, bot tokens. */
const SECRET_SHAPES =
  /\b(?:sk|pk|rk|xox[abeprs]|xapp|ghp|gho|ghs|github_pat|AIza)[-_][A-Za-z0-9_-]{12,}|\bBearer\s+[A-Za-z0-9._~+/-]{12,}=*|\bAIza[A-Za-z0-9_-]{30,}/g;

/** Characters below which a secret is taken out only where it stands by itself: it may be part of many words. */
const SHORT = 6;

/** Replaces known secret values, and whatever looks like one, before text leaves the process. */
export function createRedactor(secrets: readonly string[]): (text: string) => string {
  const known = [...new Set(secrets)].filter((secret) => secret !== "").sort((a, b) => b.length - a.length);
  const escaped = known.flatMap((secret) => {
    const inJson = JSON.stringify(secret).slice(1, -1);
    return (inJson === secret ? [secret] : [secret, inJson]).map((text) => {
      const literal = text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
      return secret.length < SHORT
        ? `(?:(?<![\\p{L}\\p{N}_])|(?<=\\\\[bfnrt]))${literal}(?![\\p{L}\\p{N}_])`
        : literal;
    });
  });
  const values = escaped.length > 0 ? new RegExp(escaped.join("|"), "gu") : undefined;
  return (text) => {
    const withoutValues = values ? text.replace(values, "[redacted]") : text;
    return withoutValues.replace(SECRET_SHAPES, "[redacted]");
  };
}

/** A logger of JSON lines on standard error, every line passed through `redact`. */
export function createLogger(
  level: string,
  redact: (text: string) => string,
  stream?: NodeJS.WritableStream,
): Logger {
  return pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, hooks: { streamWrite: redact } },
    stream ?? pino.destination({ dest: 2, sync: true }),
  );
}
