import { asRecord, asText, type SettingsReader, type SourcePath } from "./settings.ts";
import type { SettingImport } from "./source.ts";

/** Secrets of a home outside its configuration. */
export interface StoredSecrets {
  /** Variables of `.env` in the state folder. */
  readonly env: Readonly<Record<string, string>>;
  /** Entries of OpenClaw's own secret store, by name. */
  readonly store: Readonly<Record<string, string>>;
  /** Keys of model providers in the order in which OpenClaw tries them. */
  readonly profiles: Readonly<Record<string, readonly string[]>>;
}

/** A value that may be a secret. */
type SecretValue =
  /** A reference that means the same here, or a text that is no secret. */
  | { readonly kind: "value"; readonly value: string }
  | { readonly kind: "secret"; readonly name: string; readonly value: string }
  | { readonly kind: "unavailable"; readonly why: string };

const REFERENCE = /^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$/;

/** Reads texts, references to environment variables, and references to secret stores. */
export function createSecretReader(
  stored: StoredSecrets,
  env: Readonly<Record<string, string | undefined>>,
): { read(value: unknown, name: string): SecretValue; readonly stored: StoredSecrets } {
  const ofVariable = (variable: string, name: string): SecretValue => {
    if (env[variable] !== undefined && env[variable] !== "")
      return { kind: "value", value: `\${${variable}}` };
    const written = Object.hasOwn(stored.env, variable) ? stored.env[variable] : undefined;
    return written === undefined
      ? { kind: "unavailable", why: `The environment variable ${variable} is not set.` }
      : { kind: "secret", name, value: written };
  };
  return {
    stored,
    read(value, name) {
      const text = asText(value);
      const variable = REFERENCE.exec(text ?? "")?.[1];
      if (variable !== undefined) return ofVariable(variable, name);
      if (text !== undefined) return { kind: "secret", name, value: text };
      const reference = asRecord(value);
      const id = asText(reference?.["id"]);
      if (id === undefined) return { kind: "unavailable", why: "It is not a text." };
      if (reference?.["source"] === "env") return ofVariable(id, name);
      if (reference?.["source"] === "store" && Object.hasOwn(stored.store, id))
        return { kind: "secret", name, value: stored.store[id] ?? "" };
      return {
        kind: "unavailable",
        why: `It is kept outside of the home (${String(reference?.["source"])}).`,
      };
    },
  };
}

/** Imports a value that may be a secret. */
export function mapSecret(
  reader: SettingsReader,
  from: SourcePath,
  to: SettingImport["path"],
  value: SecretValue,
  unit: string | undefined,
): void {
  if (value.kind === "value") reader.map(from, to, value.value, { unit });
  else if (value.kind === "secret")
    reader.map(from, to, undefined, { unit, secret: { name: value.name, value: value.value } });
  else reader.map(from, to, undefined, { unit, unavailable: value.why });
}
