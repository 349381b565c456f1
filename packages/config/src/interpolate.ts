import type { ConfigPath } from "./problem.ts";

/** A `${NAME}` whose variable is not set. */
interface MissingVariable {
  readonly path: ConfigPath;
  readonly name: string;
}

/** A configuration value with its `${NAME}` and `${NAME:-default}` replaced from the environment. */
export interface Interpolated {
  readonly value: unknown;
  readonly missing: readonly MissingVariable[];
  /** Values that came from the environment: treat them as secrets in logs. */
  readonly secrets: readonly string[];
}

const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

/** Replaces variables in every string of `value`. A missing one without default is reported and left out. */
export function interpolate(value: unknown, env: Readonly<Record<string, string | undefined>>): Interpolated {
  const missing: MissingVariable[] = [];
  const secrets = new Set<string>();

  const walk = (node: unknown, path: ConfigPath): unknown => {
    if (typeof node === "string") {
      let lost = false;
      const text = node.replace(VARIABLE, (_all, name: string, fallback: string | undefined) => {
        const found = env[name];
        if (found !== undefined && found !== "") {
          secrets.add(found);
          return found;
        }
        if (fallback !== undefined) return fallback;
        lost = true;
        missing.push({ path, name });
        return "";
      });
      return lost ? undefined : text;
    }
    if (Array.isArray(node)) return node.map((item: unknown, index) => walk(item, [...path, index]));
    if (node !== null && typeof node === "object") {
      const entries = Object.entries(node).map(([key, item]) => [key, walk(item, [...path, key])] as const);
      return Object.fromEntries(entries.filter(([, item]) => item !== undefined));
    }
    return node;
  };

  return { value: walk(value, []), missing, secrets: [...secrets] };
}
