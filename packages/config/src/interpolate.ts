import type { ConfigPath } from "./problem.ts";
import { isSecretPlace } from "./secret-places.ts";

/** Something that the configuration refers to and that cannot be had. */
interface Missing {
  readonly path: ConfigPath;
  readonly message: string;
  readonly remedy: string;
}

/** A configuration value with what it refers to in its place. */
export interface Interpolated {
  readonly value: unknown;
  readonly missing: readonly Missing[];
  /** Values that came from elsewhere: treat them as secrets in logs. */
  readonly secrets: readonly string[];
}

/** Where secrets may be kept instead of in the file. Both throw what is to be told of the failure. */
export interface SecretSources {
  /** The text of a file. A path that is not absolute starts at the home. */
  file(path: string): string;
  /** What a program says on its standard output; started without a shell. */
  command(argv: readonly string[]): string;
}

/** `${NAME}`, `${NAME:-default}` and `${file:path}`. */
const REFERENCE = /\$\{(?:file:([^}]+)|([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?)\}/g;

/**
 * Replaces references in every string of `value`: to variables of the environment, and to files. Where a secret may
 * stand, `{ file: path }` and `{ command: [program, …] }` stand for one as well.
 * What cannot be had is reported and left out.
 */
export function interpolate(
  value: unknown,
  env: Readonly<Record<string, string | undefined>>,
  sources: SecretSources | undefined,
): Interpolated {
  const missing: Missing[] = [];
  const secrets = new Set<string>();

  /** What a source gives, without the line end that files and programs have; undefined where it fails. */
  const fetch = (
    path: ConfigPath,
    what: string,
    get: (from: SecretSources) => string,
  ): string | undefined => {
    try {
      if (sources === undefined) throw new Error("secrets are not read from files and commands here");
      const secret = get(sources).replace(/\r?\n$/, "");
      if (secret === "") throw new Error("it is empty");
      secrets.add(secret);
      return secret;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      missing.push({
        path,
        message: `${what} gives no secret: ${reason}`,
        remedy: "Mend it, or name another.",
      });
      return undefined;
    }
  };
  const variable = (path: ConfigPath, name: string, fallback: string | undefined): string | undefined => {
    const value = env[name];
    if (value !== undefined && value !== "") {
      secrets.add(value);
      return value;
    }
    if (fallback === undefined) {
      const message = `the environment variable ${name} is not set`;
      missing.push({ path, message, remedy: `Set ${name}, or write \${${name}:-default}.` });
    }
    return fallback;
  };
  const ofText = (text: string, path: ConfigPath): string | undefined => {
    let lost = false;
    const whole = text.replace(
      REFERENCE,
      (_all, file: string | undefined, name: string | undefined, fallback: string | undefined) => {
        const found =
          file === undefined
            ? variable(path, name ?? "", fallback)
            : fetch(path, `the file ${file}`, (from) => from.file(file));
        lost ||= found === undefined;
        return found ?? "";
      },
    );
    return lost ? undefined : whole;
  };

  const walk = (node: unknown, path: ConfigPath): unknown => {
    if (typeof node === "string") return ofText(node, path);
    if (Array.isArray(node)) return node.map((item: unknown, index) => walk(item, [...path, index]));
    if (node === null || typeof node !== "object") return node;
    const reference = isSecretPlace(path) ? referenceOf(node) : undefined;
    if (reference?.kind === "file")
      return fetch(path, `the file ${reference.path}`, (from) => from.file(reference.path));
    if (reference?.kind === "command") {
      const [program = ""] = reference.argv;
      return fetch(path, `the command ${program}`, (from) => from.command(reference.argv));
    }
    const entries = Object.entries(node).map(([key, item]) => [key, walk(item, [...path, key])] as const);
    return Object.fromEntries(entries.filter(([, item]) => item !== undefined));
  };
  return { value: walk(value, []), missing, secrets: [...secrets] };
}

type Reference =
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "command"; readonly argv: readonly string[] };

function referenceOf(node: object): Reference | undefined {
  const [entry, ...others] = Object.entries(node);
  if (entry === undefined || others.length > 0) return undefined;
  const [key, value]: [string, unknown] = entry;
  if (key === "file" && typeof value === "string") return { kind: "file", path: value };
  if (key !== "command" || !Array.isArray(value) || value.length === 0) return undefined;
  const argv = value.filter((word): word is string => typeof word === "string");
  return argv.length === value.length ? { kind: "command", argv } : undefined;
}
