import type { z } from "zod";
import { type Closed, closedFor } from "./closed.ts";
import { ABSENT, type Interpolated } from "./interpolate.ts";
import { type ConfigPath, formatPath, type MakeProblem, type Problem } from "./problem.ts";
import { didYouMean } from "./suggest.ts";
import { validate } from "./validate.ts";

/** Reads a configuration part by part, and collects what is wrong with it. */
export class PartReader {
  readonly #makeProblem: MakeProblem;
  /** Where something stands that could not be had. */
  readonly #missing: readonly string[];
  #problems: Problem[] = [];

  constructor(makeProblem: MakeProblem, missing: Interpolated["missing"]) {
    this.#makeProblem = makeProblem;
    this.#missing = missing.map(({ path }) => formatPath(path));
    for (const { path, message, remedy } of missing)
      this.report(path, { severity: "error", message, remedy });
  }

  /** In the order in which they were met. */
  get problems(): readonly Problem[] {
    return this.#problems;
  }

  report(path: ConfigPath, about: Parameters<MakeProblem>[1]): void {
    this.#problems.push(this.#makeProblem(path, about));
  }

  /**
   * Checks a part. Complaints become problems; a wrong part gives `undefined`.
   *
   * @param what is disabled by a wrong value; the setting itself where this is absent
   * @param mend gives what stands for a wrong value, so that the rest of the part counts
   */
  part<S extends z.ZodType>(
    schema: S,
    path: ConfigPath,
    input: unknown,
    what?: string,
    mend?: (path: ConfigPath) => Closed | undefined,
  ): z.output<S> | undefined {
    const checked = validate(schema, input, path, mend);
    for (const { kind, path: at, message, remedy } of checked.complaints) {
      const place = formatPath(at);
      const disables = what ?? `the setting ${place}`;
      // That something could not be had says already what is wrong there.
      const missing = this.#missing.filter((lost) => isWithin(lost, place));
      if (kind === "unknown-key") this.report(at, { severity: "warning", message, remedy, ignored: true });
      else if (missing.length > 0) this.raise((path) => missing.includes(path), disables);
      else this.report(at, { severity: "error", message, remedy, disables });
    }
    return checked.value;
  }

  /** A part that counts only where nothing in it is complained about, not even a key. */
  wholePart<S extends z.ZodType>(
    schema: S,
    path: ConfigPath,
    input: unknown,
    what: string,
  ): z.output<S> | undefined {
    const before = this.#problems.length;
    const value = this.part(schema, path, input, what);
    return this.#problems.length > before ? undefined : value;
  }

  /** A section in which a wrong value alone is left out: its default applies, or what allows nothing. */
  section<S extends z.ZodType>(schema: S, path: ConfigPath, input: unknown): z.output<S> {
    const closed = (at: ConfigPath) => closedFor([...path, ...at], path.length);
    const value = this.part(schema, path, input ?? {}, undefined, closed);
    return value ?? schema.parse(closed([])?.value ?? {});
  }

  /** Makes errors of what was reported, and tells whether there was anything. */
  raise(isMeant: (path: string) => boolean, disables: string): boolean {
    this.#problems = this.#problems.map((problem) => {
      if (!isMeant(problem.path)) return problem;
      const { ignored, ...rest } = problem;
      return { ...rest, severity: "error", disables };
    });
    return this.#problems.some(({ path }) => isMeant(path));
  }

  entries(path: ConfigPath, input: unknown): [string, unknown][] {
    if (isNothing(input)) return [];
    const record = asRecord(input);
    if (record === undefined) this.report(path, mustBe("a mapping", "Write one entry per line below it."));
    return Object.entries(record ?? {});
  }

  items(path: ConfigPath, input: unknown): unknown[] {
    if (isNothing(input)) return [];
    if (Array.isArray(input)) return input;
    this.report(path, mustBe("a list", "Start each entry with `- `."));
    return [];
  }

  /** A section of sections: what else stands in it counts for nothing. */
  mapping(path: ConfigPath, input: unknown, keys: readonly string[]): Record<string, unknown> {
    const sections = this.entries(path, input);
    this.reportUnknown(path, sections, keys, "keys");
    return Object.fromEntries(sections);
  }

  /** @param what the keys are called */
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

/** What could not be had has been told. */
function isNothing(input: unknown): boolean {
  return input === undefined || input === null || input === ABSENT;
}

/** Whether a place, as `agents.list[0].model`, is another one or in it. */
function isWithin(place: string, whole: string): boolean {
  return place === whole || place.startsWith(`${whole}.`) || place.startsWith(`${whole}[`);
}

/** What a value has to be. */
export function mustBe(what: string, remedy: string): Parameters<MakeProblem>[1] {
  return { severity: "error", message: `must be ${what}`, remedy };
}

export function asRecord(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return isRecord(value) ? value : undefined;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}
