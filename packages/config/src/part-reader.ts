import type { z } from "zod";
import { getClosedMapping, getFailClosedValue } from "./fail-closed.ts";
import { ABSENT, type Interpolated } from "./interpolate.ts";
import { type ConfigPath, formatPath, type MakeProblem, type Problem } from "./problem.ts";
import { getKeysAt } from "./schema-keys.ts";
import { didYouMean } from "./suggest.ts";
import { type Replacements, validate } from "./validate.ts";

/** Validates a configuration part by part and collects problems. */
export class PartReader {
  readonly #makeProblem: MakeProblem;
  /** Paths of unresolved references. */
  readonly #missing: readonly string[];
  /** Values of references. */
  readonly #secrets: readonly string[];
  #problems: Problem[] = [];

  constructor(makeProblem: MakeProblem, { missing, secrets }: Omit<Interpolated, "value">) {
    this.#makeProblem = makeProblem;
    this.#secrets = secrets;
    this.#missing = missing.map(({ path }) => formatPath(path));
    for (const { path, message, remedy } of missing)
      this.report(path, { severity: "error", message, remedy });
  }

  get problems(): readonly Problem[] {
    return this.#problems;
  }

  report(path: ConfigPath, about: Parameters<MakeProblem>[1]): void {
    this.#problems.push(this.#makeProblem(path, about));
  }

  /**
   * Validates a part and reports its problems.
   *
   * @param what names what an invalid value disables. Default: the setting itself.
   * @param replace returns replacements, so that the rest of the part is used
   * @returns `undefined` if the part is invalid
   */
  part<S extends z.ZodType>(
    schema: S,
    path: ConfigPath,
    input: unknown,
    what?: string,
    replace?: Replacements,
  ): z.output<S> | undefined {
    const checked = validate(schema, input, path, (value) => this.#isSecret(value), replace);
    for (const { kind, path: at, message, remedy, restricts } of checked.issues) {
      const place = formatPath(at);
      const disables =
        restricts === undefined
          ? (what ?? `the setting ${place}`)
          : `everything that ${formatPath(restricts)} allows`;
      // An unresolved reference is reported already. It becomes an error of this part.
      const missing = this.#missing.filter((unresolved) => isWithin(unresolved, place));
      if (kind === "unknown_key") this.report(at, { severity: "warning", message, remedy, ignored: true });
      else if (missing.length > 0) this.raise((path) => missing.includes(path), disables);
      else this.report(at, { severity: "error", message, remedy, disables });
    }
    return checked.value;
  }

  /** Validates a part in which unknown keys are errors too. */
  strictPart<S extends z.ZodType>(
    schema: S,
    path: ConfigPath,
    input: unknown,
    what: string,
  ): z.output<S> | undefined {
    const before = this.#problems.length;
    const value = this.part(schema, path, input, what);
    return this.#problems.length > before ? undefined : value;
  }

  /** Validates a section in which only invalid values are replaced, by their default or by a restrictive value. */
  section<S extends z.ZodType>(schema: S, path: ConfigPath, input: unknown): z.output<S> {
    const invalid = (at: ConfigPath) => getFailClosedValue([...path, ...at], path.length);
    const unknownKey = (at: ConfigPath) => getClosedMapping([...path, ...at], path.length);
    const value = this.part(schema, path, input ?? {}, undefined, { invalid, unknownKey });
    return value ?? schema.parse(invalid([])?.value ?? {});
  }

  /**
   * Turns reported problems into errors.
   *
   * @returns whether there were any
   */
  raise(isSelected: (path: string) => boolean, disables: string): boolean {
    this.#problems = this.#problems.map((problem) => {
      if (!isSelected(problem.path)) return problem;
      const { ignored, ...rest } = problem;
      return { ...rest, severity: "error", disables };
    });
    return this.#problems.some(({ path }) => isSelected(path));
  }

  #isSecret(value: unknown): boolean {
    return this.#secrets.some((secret) => String(value).includes(secret));
  }

  entries(path: ConfigPath, input: unknown): [string, unknown][] {
    if (isEmpty(input)) return [];
    const record = asRecord(input);
    if (record === undefined) this.report(path, mustBe("a mapping", "Write one entry per line below it."));
    return Object.entries(record ?? {});
  }

  items(path: ConfigPath, input: unknown): unknown[] {
    if (isEmpty(input)) return [];
    if (Array.isArray(input)) return input;
    this.report(path, mustBe("a list", "Start each entry with `- `."));
    return [];
  }

  /** Reads a section of sections. Unknown keys are reported and ignored. */
  mapping(path: ConfigPath, input: unknown, keys: readonly string[]): Record<string, unknown> {
    const sections = this.entries(path, input);
    this.reportUnknown(path, sections, keys, "keys");
    return Object.fromEntries(sections);
  }

  /**
   * Reads the entries of a section, such as the channels. Settings of an entry that are written one level too far out
   * are reported and left out, together with the empty entry that they belong to.
   *
   * @param what names an entry, such as `channel`
   */
  namedEntries(path: ConfigPath, input: unknown, schema: z.ZodType, what: string): [string, unknown][] {
    const keys = getKeysAt(schema, []);
    const entries = this.entries(path, input);
    const misplaced = entries.filter(
      ([name, value]) => keys.includes(name) && asRecord(value) === undefined && !isEmpty(value),
    );
    for (const [name] of misplaced)
      this.report([...path, name], {
        severity: "error",
        message: `is a setting of a ${what}, but is not below the name of one`,
        remedy: `Indent it below the ${what} that it belongs to.`,
        disables: `the setting ${formatPath([...path, name])}`,
      });
    if (misplaced.length === 0) return entries;
    return entries.filter((entry) => !misplaced.includes(entry) && !isEmpty(entry[1]));
  }

  /** @param what names the keys in the remedy, such as `sections` */
  reportUnknown(
    path: ConfigPath,
    entries: readonly [string, unknown][],
    keys: readonly string[],
    what: string,
  ): void {
    for (const [key] of entries.filter(([name]) => !keys.includes(name)))
      this.report([...path, key], {
        severity: "warning",
        message: "unknown key",
        ignored: true,
        remedy: `${didYouMean(key, keys)}Valid ${what} are ${keys.join(", ")}.`,
      });
  }
}

/** Unresolved references count as empty, because they are reported already. */
function isEmpty(input: unknown): boolean {
  return input === undefined || input === null || input === ABSENT;
}

/** Returns whether a path such as `agents.list[0].model` equals another one or is below it. */
function isWithin(path: string, parent: string): boolean {
  return path === parent || path.startsWith(`${parent}.`) || path.startsWith(`${parent}[`);
}

export function mustBe(what: string, remedy: string): Parameters<MakeProblem>[1] {
  return { severity: "error", message: `must be ${what}`, remedy };
}

export function asRecord(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return isRecord(value) ? value : undefined;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}
