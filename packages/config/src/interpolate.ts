import type { ConfigPath } from "./problem.ts";
import { isSecretPlace } from "./secret-places.ts";

/** A reference that could not be resolved. */
interface MissingReference {
  readonly path: ConfigPath;
  readonly message: string;
  readonly remedy: string;
}

/** A configuration with its references resolved. */
export interface Interpolated {
  readonly value: unknown;
  readonly missing: readonly MissingReference[];
  /** Resolved values. Treat them as secrets in logs. */
  readonly secrets: readonly string[];
}

/** Reads secrets from outside the file. Both functions throw an error whose message is reported. */
export interface SecretSources {
  /** Reads a file. Relative paths start at the home. */
  file(path: string): string;
  /** Runs a program without a shell and returns its standard output. */
  command(argv: readonly string[]): string;
}

/**
 * Replaces a value whose reference could not be resolved. It fails every schema, so that a part is not used without a
 * setting that was meant to restrict it.
 */
export const ABSENT: unique symbol = Symbol("absent");

/** `${NAME}`, `${NAME:-default}` and `${file:path}`. */
const REFERENCE = /\$\{(?:file:([^}]+)|([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?)\}/g;

/**
 * Resolves references to environment variables and files in all strings, and `{ file: path }` and
 * `{ command: [program, …] }` in places of secrets. A reference that cannot be resolved becomes {@link ABSENT} and is
 * reported.
 */
export function interpolate(
  value: unknown,
  env: Readonly<Record<string, string | undefined>>,
  sources: SecretSources | undefined,
): Interpolated {
  const interpolation = new Interpolation(env, sources);
  const resolved = interpolation.resolve(value, []);
  return { value: resolved, missing: interpolation.missing, secrets: [...interpolation.secrets] };
}

class Interpolation {
  readonly missing: MissingReference[] = [];
  readonly secrets: Set<string> = new Set();
  readonly #env: Readonly<Record<string, string | undefined>>;
  readonly #sources: SecretSources | undefined;

  constructor(env: Readonly<Record<string, string | undefined>>, sources: SecretSources | undefined) {
    this.#env = env;
    this.#sources = sources;
  }

  resolve(node: unknown, path: ConfigPath): unknown {
    if (typeof node === "string") return this.#text(node, path);
    if (Array.isArray(node)) return node.map((item: unknown, index) => this.resolve(item, [...path, index]));
    if (node === null || typeof node !== "object") return node;
    const reference = isSecretPlace(path) ? parseReference(node) : undefined;
    if (reference?.kind === "file") return this.#file(path, reference.path) ?? ABSENT;
    if (reference?.kind === "command") {
      const [program = ""] = reference.argv;
      const what = `the command ${program}`;
      return this.#fetch(path, what, (from) => from.command(reference.argv)) ?? ABSENT;
    }
    return Object.fromEntries(
      Object.entries(node).map(([key, item]) => [key, this.resolve(item, [...path, key])]),
    );
  }

  #text(text: string, path: ConfigPath): string | typeof ABSENT {
    let isMissing = false;
    const resolved = text.replace(
      REFERENCE,
      (_all, file: string | undefined, name: string | undefined, fallback: string | undefined) => {
        const found =
          file === undefined ? this.#variable(path, name ?? "", fallback) : this.#file(path, file);
        isMissing ||= found === undefined;
        return found ?? "";
      },
    );
    return isMissing ? ABSENT : resolved;
  }

  #variable(path: ConfigPath, name: string, fallback: string | undefined): string | undefined {
    const value = this.#env[name];
    if (value !== undefined && value !== "") {
      this.secrets.add(value);
      return value;
    }
    if (fallback === undefined) {
      const message = `the environment variable ${name} is not set`;
      this.missing.push({ path, message, remedy: `Set ${name}, or write \${${name}:-default}.` });
    }
    return fallback;
  }

  #file(path: ConfigPath, file: string): string | undefined {
    return this.#fetch(path, `the file ${file}`, (from) => from.file(file));
  }

  /** Reads a secret, without the trailing line break. Returns `undefined` if that fails. */
  #fetch(path: ConfigPath, what: string, get: (from: SecretSources) => string): string | undefined {
    try {
      if (this.#sources === undefined)
        throw new Error("reading secrets from files and commands is not supported here");
      const secret = get(this.#sources).replace(/\r?\n$/, "");
      if (secret === "") throw new Error("it is empty");
      this.secrets.add(secret);
      return secret;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const message = `cannot read a secret from ${what}: ${reason}`;
      this.missing.push({ path, message, remedy: "Correct it, or use another source." });
      return undefined;
    }
  }
}

type Reference =
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "command"; readonly argv: readonly string[] };

function parseReference(node: object): Reference | undefined {
  const [entry, ...others] = Object.entries(node);
  if (entry === undefined || others.length > 0) return undefined;
  const [key, value]: [string, unknown] = entry;
  if (key === "file" && typeof value === "string") return { kind: "file", path: value };
  if (key !== "command" || !Array.isArray(value) || value.length === 0) return undefined;
  const argv = value.filter((word): word is string => typeof word === "string");
  return argv.length === value.length ? { kind: "command", argv } : undefined;
}
