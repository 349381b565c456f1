import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { GatewayError } from "@signalbox/home";
import JSON5 from "json5";
import { asRecord } from "./settings.ts";
import { isReallyInside } from "./tree.ts";

const MAX_CONFIGURATION_BYTES = 10_000_000;
const MAX_INCLUDES = 20;

/**
 * Reads a configuration in JSON5. `$include` may name files of the home.
 *
 * @throws GatewayError naming the file
 */
export function readConfigurationFile(file: string, home: string, depth = 0): unknown {
  if (depth > MAX_INCLUDES)
    throw new GatewayError("failure", `${file} includes more than ${MAX_INCLUDES} files.`);
  if (statSync(file).size > MAX_CONFIGURATION_BYTES)
    throw new GatewayError("failure", `${file} is larger than ${MAX_CONFIGURATION_BYTES} bytes.`);
  let parsed: unknown;
  try {
    parsed = JSON5.parse(readFileSync(file, "utf8"));
  } catch (error) {
    // The message of the parser could quote a secret.
    throw new GatewayError("failure", `${file} is not valid JSON5. Correct it, or run \`openclaw doctor\`.`, {
      cause: error,
    });
  }
  return resolveIncludes(parsed, dirname(file), home, depth);
}

function resolveIncludes(value: unknown, dir: string, home: string, depth: number, level = 0): unknown {
  if (level > 64) throw new GatewayError("failure", "The configuration has more than 64 levels.");
  if (Array.isArray(value)) return value.map((each) => resolveIncludes(each, dir, home, depth, level + 1));
  const record = asRecord(value);
  if (record === undefined) return value;
  const { $include, ...own } = record;
  const resolved = Object.fromEntries(
    Object.entries(own).map(([key, each]) => [key, resolveIncludes(each, dir, home, depth, level + 1)]),
  );
  const names = typeof $include === "string" ? [$include] : Array.isArray($include) ? $include : [];
  const included = names.map((name: unknown) => {
    const file = resolve(dir, String(name));
    if (!isReallyInside(file, home))
      throw new GatewayError("failure", `${String(name)} is included and is not in ${home}.`);
    return readConfigurationFile(file, home, depth + 1);
  });
  if (included.length === 0) return resolved;
  return [...included, resolved].reduce(merge, {});
}

function merge(one: unknown, other: unknown): unknown {
  const [left, right] = [asRecord(one), asRecord(other)];
  if (left === undefined || right === undefined) return other;
  const merged: Record<string, unknown> = { ...left };
  for (const [key, value] of Object.entries(right))
    merged[key] = Object.hasOwn(left, key) ? merge(left[key], value) : value;
  return merged;
}

/** Reads the variables of a `.env` file. */
export function readEnvironmentFile(file: string): Record<string, string> {
  if (!existsSync(file)) return {};
  const variables: Record<string, string> = {};
  for (const line of readFileSync(file, "utf8").split(/\r?\n/)) {
    const [, name, value] = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (name === undefined || value === undefined) continue;
    const quoted = /^(["'])(.*)\1$/.exec(value)?.[2];
    variables[name] = quoted ?? value.replace(/\s+#.*$/, "");
  }
  return variables;
}
