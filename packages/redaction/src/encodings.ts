/** Minimum length of a part of an encoded secret. A shorter part could occur by chance. */
const MIN_ENCODED_CHARS = 8;
/** Minimum length of a line of a multi-line secret that is also searched separately. */
const MIN_LINE_CHARS = 16;

/** Returns a secret in all supported encodings. */
export function encodeSecret(secret: string): ReadonlySet<string> {
  const bytes = Buffer.from(secret, "utf8");
  const hex = bytes.toString("hex");
  // Lone surrogates, which JSON allows, cannot be percent-encoded.
  const wellFormed = secret.toWellFormed();
  const percent = encodeURIComponent(wellFormed);
  const json = JSON.stringify(secret).slice(1, -1);
  const lines = secret.split(/\r?\n/).filter((line) => line.length >= MIN_LINE_CHARS);
  return new Set([
    secret,
    ...(lines.length > 1 ? lines : []),
    json,
    // JSON inside JSON, for example in a logged request.
    JSON.stringify(json).slice(1, -1),
    percent,
    toLowerCaseEscapes(percent),
    percent.replaceAll("%20", "+"),
    encodeURI(wellFormed),
    escapeHtml(secret),
    ...(hex.length >= MIN_ENCODED_CHARS ? [hex, hex.toUpperCase()] : []),
    ...encodeBase64(bytes),
  ]);
}

function toLowerCaseEscapes(percent: string): string {
  return percent.replace(/%[0-9A-F]{2}/g, (letters) => letters.toLowerCase());
}

function escapeHtml(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

/**
 * Returns the base64 characters that depend only on the secret, for each of the three offsets at which it can start in
 * a longer encoded text.
 */
function encodeBase64(bytes: Buffer): string[] {
  const standard = [0, 1, 2].flatMap((before) => {
    const padded = Buffer.concat([Buffer.alloc(before), bytes]);
    const text = padded.toString("base64").replace(/=+$/, "");
    const first = Math.ceil((before * 8) / 6);
    const last = Math.floor((padded.length * 8) / 6);
    const own = text.slice(first, last);
    return own.length >= MIN_ENCODED_CHARS ? [own] : [];
  });
  return [...standard, ...standard.map((text) => text.replaceAll("+", "-").replaceAll("/", "_"))];
}
