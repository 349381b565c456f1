import { isDeepStrictEqual } from "node:util";
import { type ConfigPath, formatPath } from "@signalbox/config";

/** Keys whose value is a program or a package that the gateway runs with all permissions of its user. */
const KEYS: ReadonlySet<string> = new Set(["command", "module", "package", "packages"]);

interface Program {
  readonly place: string;
  readonly value: unknown;
  /** Describes it without arguments, which may contain secrets. */
  readonly text: string;
}

/** Describes the programs and packages that the gateway would run with a configuration and does not run now. */
export function findNewPrograms(before: unknown, after: unknown): string[] {
  const known = findPrograms(before, []);
  return findPrograms(after, [])
    .filter(
      ({ place, value }) =>
        !known.some((program) => program.place === place && isDeepStrictEqual(program.value, value)),
    )
    .map(({ text }) => text);
}

function findPrograms(value: unknown, path: ConfigPath): Program[] {
  if (Array.isArray(value)) return value.flatMap((item: unknown, at) => findPrograms(item, [...path, at]));
  if (value === null || typeof value !== "object") return [];
  return Object.entries(value).flatMap(([key, item]): Program[] => {
    const place = formatPath([...path, key]);
    if (KEYS.has(key)) return [{ place, value, text: `${place}: ${describe(item)}` }];
    if (place === "tools.exec.sandbox" && item === "none")
      return [{ place, value: item, text: `${place}: commands of agents run without a sandbox` }];
    return findPrograms(item, [...path, key]);
  });
}

function describe(value: unknown): string {
  if (typeof value === "string") return value;
  const words = Array.isArray(value) ? value.map(String) : [];
  return words.length > 2 ? `${words.slice(0, 2).join(" ")} …` : words.join(" ");
}
