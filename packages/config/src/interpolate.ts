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

/** Stands where something could not be had: wrong everywhere, so that what was to narrow a part is not left out. */
export const ABSENT: unique symbol = Symbol("absent");

/** `${NAME}`, `${NAME:-default}` and `${file:path}`. */
const REFERENCE = /\$\{(?:file:([^}]+)|([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?)\}/g;

/**
 * Replaces references in every string of `value`: to variables of the environment, and to files. Where a secret may
 * stand, `{ file: path }` and `{ command: [program, …] }` stand for one as well.
 * What cannot be had is reported, and {@link ABSENT} in its place.
 */
export function interpolate(
  value: unknown,
  env: Readonly<Record<string, string | undefined>>,
  sources: SecretSources | undefined,
): Interpolated {
  const interpolation = new Interpolation(env, sources);
  const whole = interpolation.of(value, []);
  return { value: whole, missing: interpolation.missing, secrets: [...interpolation.secrets] };
}

class Interpolation {
  readonly missing: Missing[] = [];
  readonly secrets: Set<string> = new Set();
  readonly #env: Readonly<Record<string, string | undefined>>;
  readonly #sources: SecretSources | undefined;

  constructor(env: Readonly<Record<string, string | undefined>>, sources: SecretSources | undefined) {
    this.#env = env;
    this.#sources = sources;
  }

  of(node: unknown, path: ConfigPath): unknown {
    if (typeof node === "string") return this.#text(node, path);
    if (Array.isArray(node)) return node.map((item: unknown, index) => this.of(item, [...path, index]));
    if (node === null || typeof node !== "object") return node;
    const reference = isSecretPlace(path) ? referenceOf(node) : undefined;
    if (reference?.kind === "file") return this.#file(path, reference.path) ?? ABSENT;
    if (reference?.kind === "command") {
      const [program = ""] = reference.argv;
      const what = `the command ${program}`;
      return this.#fetch(path, what, (from) => from.command(reference.argv)) ?? ABSENT;
    }
    return Object.fromEntries(
      Object.entries(node).map(([key, item]) => [key, this.of(item, [...path, key])]),
    );
  }

  #text(text: string, path: ConfigPath): string | typeof ABSENT {
    let lost = false;
    const whole = text.replace(
      REFERENCE,
      (_all, file: string | undefined, name: string | undefined, fallback: string | undefined) => {
        const found =
          file === undefined ? this.#variable(path, name ?? "", fallback) : this.#file(path, file);
        lost ||= found === undefined;
        return found ?? "";
      },
    );
    return lost ? ABSENT : whole;
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

  /** What a source gives, without the line end that files and programs have; undefined where it fails. */
  #fetch(path: ConfigPath, what: string, get: (from: SecretSources) => string): string | undefined {
    try {
      if (this.#sources === undefined) throw new Error("secrets are not read from files and commands here");
      const secret = get(this.#sources).replace(/\r?\n$/, "");
      if (secret === "") throw new Error("it is empty");
      this.secrets.add(secret);
      return secret;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const message = `cannot read a secret from ${what}: ${reason}`;
      this.missing.push({ path, message, remedy: "Fix it, or use another one." });
      return undefined;
    }
  }
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
