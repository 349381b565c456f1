/** A part of a secret's base64 that is shorter than this may be part of anything. */
const LONG_ENOUGH = 8;
/** A line of a secret of several lines counts by itself from so many characters on. */
const LINE = 16;

/** The ways a secret may be written in a text. */
export function encodingsOf(secret: string): ReadonlySet<string> {
  const bytes = Buffer.from(secret, "utf8");
  const hex = bytes.toString("hex");
  // Half of a character, as JSON may write it, is in no address.
  const wellFormed = secret.toWellFormed();
  const percent = encodeURIComponent(wellFormed);
  const inJson = JSON.stringify(secret).slice(1, -1);
  const lines = secret.split(/\r?\n/).filter((line) => line.length >= LINE);
  return new Set([
    secret,
    ...(lines.length > 1 ? lines : []),
    inJson,
    // JSON within JSON, as in the log of a request.
    JSON.stringify(inJson).slice(1, -1),
    percent,
    lowerEscapes(percent),
    percent.replaceAll("%20", "+"),
    encodeURI(wellFormed),
    htmlEscaped(secret),
    ...(hex.length >= LONG_ENOUGH ? [hex, hex.toUpperCase()] : []),
    ...base64Of(bytes),
  ]);
}

function lowerEscapes(percent: string): string {
  return percent.replace(/%[0-9A-F]{2}/g, (letters) => letters.toLowerCase());
}

function htmlEscaped(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

/** Base64 of whatever holds the secret, wherever in it the secret begins: the letters that depend on it alone. */
function base64Of(bytes: Buffer): string[] {
  const standard = [0, 1, 2].flatMap((before) => {
    const padded = Buffer.concat([Buffer.alloc(before), bytes]);
    const text = padded.toString("base64").replace(/=+$/, "");
    const first = Math.ceil((before * 8) / 6);
    const last = Math.floor((padded.length * 8) / 6);
    const own = text.slice(first, last);
    return own.length >= LONG_ENOUGH ? [own] : [];
  });
  return [...standard, ...standard.map((text) => text.replaceAll("+", "-").replaceAll("/", "_"))];
}
