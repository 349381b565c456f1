import type { JsonObject, JsonValue } from "../json.ts";
import {
  add,
  type Check,
  canonical,
  isJsonObject,
  MAX_ISSUES,
  number,
  type SchemaIssue,
  strings,
} from "./issues.ts";
import { pushNumber, pushString, pushType, pushValues } from "./keywords.ts";
import { compilePattern, type Pattern } from "./pattern.ts";

/**
 * Compiles a JSON Schema (draft 2020-12, and what older drafts write differently) into one function.
 *
 * Known: `type`, `enum`, `const`, the bounds of numbers, strings, arrays and objects, `pattern`, `properties`,
 * `patternProperties`, `additionalProperties`, `propertyNames`, `required`, `dependentRequired`, `items`,
 * `prefixItems`, `contains`, `uniqueItems`, `allOf`, `anyOf`, `oneOf`, `not`, `if`/`then`/`else`, local `$ref`.
 * Anything else (`format`, remote references, `unevaluatedProperties`) is an annotation and accepts everything.
 *
 * A schema may come from anywhere, so its work is bounded: `compilePattern` says how a pattern is checked, and a value
 * for which more than 100,000 references would have to be followed is wrong.
 */
export function compileJsonSchema(schema: JsonValue): (value: unknown) => readonly SchemaIssue[] {
  const compiler = new Compiler(schema);
  const check = compiler.compile(schema);
  return (value) => {
    const issues: SchemaIssue[] = [];
    compiler.begin();
    try {
      check(value, "", issues);
    } catch (error) {
      if (error !== TOO_MANY) throw error;
      return [{ path: "", message: "cannot be checked: the schema refers to itself too often" }];
    }
    return issues.slice(0, MAX_ISSUES);
  };
}

/** References followed for one value. Two in each of a few definitions lead to more than anything could follow. */
const MAX_REFERENCES = 100_000;
/** Thrown, since under a `not` a wrong value is a right one. */
const TOO_MANY = new Error("too many references");

const accept: Check = () => {};

class Compiler {
  readonly #root: JsonValue;
  readonly #refs = new Map<string, Check>();
  readonly #active = new Set<string>();
  #followed = 0;

  constructor(root: JsonValue) {
    this.#root = root;
  }

  /** Another value. */
  begin(): void {
    this.#followed = 0;
  }

  compile(schema: JsonValue | undefined): Check {
    if (schema === false) return (_value, path, issues) => add(issues, path, "is not allowed");
    if (!isJsonObject(schema)) return accept;
    const checks: Check[] = [];
    if (typeof schema.$ref === "string") checks.push(this.#ref(schema.$ref));
    pushType(schema, checks);
    pushValues(schema, checks);
    pushNumber(schema, checks);
    pushString(schema, checks);
    this.#pushArray(schema, checks);
    this.#pushObject(schema, checks);
    this.#pushCombined(schema, checks);
    if (checks.length === 0) return accept;
    const [only] = checks;
    if (checks.length === 1 && only !== undefined) return only;
    return (value, path, issues) => {
      for (const check of checks) {
        check(value, path, issues);
        if (issues.length >= MAX_ISSUES) return;
      }
    };
  }

  /** A reference may lead back to where it stands, so it is looked up when it is first used. */
  #ref(ref: string): Check {
    return (value, path, issues) => {
      let check = this.#refs.get(ref);
      if (check === undefined) {
        check = this.compile(resolve(this.#root, ref));
        this.#refs.set(ref, check);
      }
      // A reference that comes back to the same value says nothing about it.
      const place = `${ref} ${path}`;
      if (this.#active.has(place)) return;
      if (++this.#followed > MAX_REFERENCES) throw TOO_MANY;
      this.#active.add(place);
      try {
        check(value, path, issues);
      } finally {
        this.#active.delete(place);
      }
    };
  }

  #list(value: JsonValue | undefined): Check[] {
    return Array.isArray(value) ? value.map((entry: JsonValue) => this.compile(entry)) : [];
  }

  #pushArray(schema: JsonObject, checks: Check[]): void {
    // Before 2020-12 a list under `items` meant what `prefixItems` means now.
    const oldTuple = Array.isArray(schema.items);
    const prefix = this.#list(oldTuple ? schema.items : schema.prefixItems);
    const restSchema = oldTuple ? schema.additionalItems : schema.items;
    const rest = restSchema === undefined ? undefined : this.compile(restSchema);
    const contains = schema.contains === undefined ? undefined : this.compile(schema.contains);
    const min = number(schema.minItems);
    const max = number(schema.maxItems);
    const unique = schema.uniqueItems === true;
    if (prefix.length === 0 && !rest && !contains && min === undefined && max === undefined && !unique)
      return;
    checks.push((value, path, issues) => {
      if (!Array.isArray(value)) return;
      const items: readonly unknown[] = value;
      if (min !== undefined && items.length < min) add(issues, path, `must have at least ${min} items`);
      if (max !== undefined && items.length > max) add(issues, path, `must have at most ${max} items`);
      for (let i = 0; i < items.length && issues.length < MAX_ISSUES; i++) {
        const check = prefix[i] ?? rest;
        check?.(items[i], `${path}/${i}`, issues);
      }
      if (unique && new Set(items.map(canonical)).size < items.length) add(issues, path, "has equal items");
      if (contains && !items.some((item, i) => passes(contains, item, `${path}/${i}`))) {
        add(issues, path, "has no item of the kind it must contain");
      }
    });
  }

  #pushObject(schema: JsonObject, checks: Check[]): void {
    const properties = new Map<string, { readonly pointer: string; readonly check: Check }>();
    if (isJsonObject(schema.properties)) {
      for (const [key, entry] of Object.entries(schema.properties))
        properties.set(key, { pointer: pointer(key), check: this.compile(entry) });
    }
    const patterns: [Pattern, Check][] = [];
    if (isJsonObject(schema.patternProperties)) {
      for (const [source, entry] of Object.entries(schema.patternProperties)) {
        const pattern = compilePattern(source);
        if (pattern) patterns.push([pattern, this.compile(entry)]);
      }
    }
    const required = strings(schema.required);
    const additional =
      schema.additionalProperties === undefined ? undefined : this.compile(schema.additionalProperties);
    const closed = schema.additionalProperties === false;
    const names = schema.propertyNames === undefined ? undefined : this.compile(schema.propertyNames);
    const min = number(schema.minProperties);
    const max = number(schema.maxProperties);
    const dependent = isJsonObject(schema.dependentRequired) ? Object.entries(schema.dependentRequired) : [];
    const perKey = properties.size > 0 || patterns.length > 0 || additional || names;
    if (
      !perKey &&
      required.length === 0 &&
      min === undefined &&
      max === undefined &&
      dependent.length === 0
    ) {
      return;
    }
    checks.push((value, path, issues) => {
      if (!isJsonObject(value)) return;
      for (const key of required) {
        if (!Object.hasOwn(value, key)) add(issues, `${path}/${pointer(key)}`, "is missing");
      }
      for (const [key, needs] of dependent) {
        if (!Object.hasOwn(value, key)) continue;
        for (const need of strings(needs)) {
          if (!Object.hasOwn(value, need))
            add(issues, `${path}/${pointer(need)}`, `is needed beside "${key}"`);
        }
      }
      const keys = Object.keys(value);
      if (min !== undefined && keys.length < min) add(issues, path, `must have at least ${min} properties`);
      if (max !== undefined && keys.length > max) add(issues, path, `must have at most ${max} properties`);
      if (!perKey) return;
      for (const key of keys) {
        if (issues.length >= MAX_ISSUES) return;
        const property = properties.get(key);
        const at = `${path}/${property?.pointer ?? pointer(key)}`;
        property?.check(value[key], at, issues);
        let known = property !== undefined;
        for (const [pattern, patternCheck] of patterns) {
          if (!pattern.test(key)) continue;
          known = true;
          patternCheck(value[key], at, issues);
        }
        if (!known && closed) add(issues, at, unknownProperty([...properties.keys()]));
        else if (!known) additional?.(value[key], at, issues);
        names?.(key, at, issues);
      }
    });
  }

  #pushCombined(schema: JsonObject, checks: Check[]): void {
    checks.push(...this.#list(schema.allOf));
    const any = this.#list(schema.anyOf);
    if (any.length > 0) checks.push(alternatives(any, 1));
    const one = this.#list(schema.oneOf);
    if (one.length > 0) checks.push(alternatives(one, 1, 1));
    if (schema.not !== undefined) {
      const not = this.compile(schema.not);
      checks.push((value, path, issues) => {
        if (passes(not, value, path)) add(issues, path, "has a form that is excluded");
      });
    }
    if (schema.if !== undefined) {
      const condition = this.compile(schema.if);
      const yes = this.compile(schema.then);
      const no = this.compile(schema.else);
      checks.push((value, path, issues) => (passes(condition, value, path) ? yes : no)(value, path, issues));
    }
  }
}

function alternatives(checks: readonly Check[], min: number, max = Number.POSITIVE_INFINITY): Check {
  return (value, path, issues) => {
    let matches = 0;
    let best: SchemaIssue[] | undefined;
    for (const check of checks) {
      const own: SchemaIssue[] = [];
      check(value, path, own);
      if (own.length === 0) matches++;
      // The alternative that came furthest is the one that was meant.
      else if (best === undefined || depth(own) > depth(best)) best = own;
    }
    if (matches > max) add(issues, path, "fits more than one of the alternatives");
    if (matches >= min) return;
    if (best !== undefined && depth(best) > path.length) issues.push(...best);
    else if (best !== undefined) add(issues, path, best.map((issue) => issue.message).join("; "));
  };
}

function depth(issues: readonly SchemaIssue[]): number {
  return Math.max(...issues.map((issue) => issue.path.length));
}

/** At its own place, as references go by where they are. */
function passes(check: Check, value: unknown, path: string): boolean {
  const issues: SchemaIssue[] = [];
  check(value, path, issues);
  return issues.length === 0;
}

function resolve(root: JsonValue, ref: string): JsonValue | undefined {
  if (ref === "#") return root;
  if (!ref.startsWith("#/")) return undefined;
  let at: JsonValue | undefined = root;
  for (const part of ref.slice(2).split("/")) {
    const key = decoded(part).replaceAll("~1", "/").replaceAll("~0", "~");
    if (Array.isArray(at)) at = at[Number(key)];
    else if (isJsonObject(at)) at = at[key];
    else return undefined;
  }
  return at;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    // A lone percent sign is itself.
    return part;
  }
}

function unknownProperty(known: readonly string[]): string {
  return known.length === 0
    ? "is not a known property"
    : `is not a known property; there are ${known.join(", ")}`;
}

function pointer(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}
