import { expect, it } from "vitest";
import { ALL_FORMS, createExample } from "../bench/forms.ts";
import { createVault } from "./index.ts";

const ENCODINGS: Readonly<Record<string, (text: string) => string>> = {
  "as they are": (text) => text,
  "in JSON": (text) => JSON.stringify({ error: { message: text } }),
  "in base64": (text) => Buffer.from(`the vendor said ${text}`).toString("base64"),
  "in hexadecimal": (text) => Buffer.from(text).toString("hex"),
  "URL-encoded": (text) => encodeURIComponent(text),
  "in JSON escapes": (text) => escapeAll(text, "\\u00"),
  "in percent escapes": (text) => escapeAll(text, "%"),
  "in bytes with colons": (text) => escapeAll(text, ":").slice(1),
  "in quoted-printable escapes": (text) => escapeAll(text, "=").toUpperCase(),
};

function escapeAll(text: string, prefix: string): string {
  return [...text].map((c) => `${prefix}${c.charCodeAt(0).toString(16).padStart(2, "0")}`).join("");
}

/** Everything that a reader can decode from a text. */
function readings(text: string): string[] {
  const runs = text.match(/[A-Za-z0-9+/=]{12,}/g) ?? [];
  const unescaped = text.replace(/(?:%|:|=|\\u00)([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return [text, unescaped, ...runs.flatMap((run) => [decode(run, "base64"), decode(run, "hex")])];
}

function decode(run: string, encoding: "base64" | "hex"): string {
  return Buffer.from(run, encoding).toString("latin1");
}

it.each(Object.entries(ENCODINGS))("removes credentials of 190 forms and more %s", (_, encode) => {
  let state = Number(process.env["SIGNALBOX_SEED"] ?? 1);
  const random = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const { redact } = createVault();
  const missed: string[] = [];
  for (const form of ALL_FORMS) {
    const { text, secret } = createExample(form, random);
    const left = redact(`Not accepted: ${encode(text)} .`);
    if (readings(left).some((reading) => reading.includes(secret.slice(-12))))
      missed.push(`${form.name}: ${left}`);
  }
  expect(ALL_FORMS.length).toBeGreaterThan(190);
  // A random example may consist only of letters, for instance.
  expect(missed.length, missed.join("\n")).toBeLessThanOrEqual(2);
});
