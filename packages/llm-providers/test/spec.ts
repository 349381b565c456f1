import { readSpec, type SpecName } from "@signalbox/testkit/wire";
import { Ajv2020, type AnySchemaObject, type ValidateFunction } from "ajv/dist/2020.js";
import { parse } from "yaml";

/** Checks request bodies against a vendor's API document. Unknown properties are errors. */
export interface RequestChecker {
  /** Returns the problems of a body. */
  problems(body: unknown): string[];
}

type Schema = Record<string, unknown>;

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Keys whose values are data, not schemas. */
const DATA = new Set(["example", "examples", "default", "enum", "const", "x-enum-descriptions"]);

/** Converts OpenAPI 3.0 to JSON Schema in place. Published `oneOf` branches overlap, so any number may match. */
function modernise(schema: unknown, seen: Set<unknown>): void {
  if (typeof schema !== "object" || schema === null || seen.has(schema)) return;
  seen.add(schema);
  if (Array.isArray(schema)) {
    for (const item of schema) modernise(item, seen);
    return;
  }
  if (!isSchema(schema)) return;
  if (schema.nullable === true) {
    if (typeof schema.type === "string") schema.type = [schema.type, "null"];
    if (Array.isArray(schema.enum) && !schema.enum.includes(null)) schema.enum.push(null);
  }
  if (Array.isArray(schema.oneOf)) {
    schema.anyOf = [...(Array.isArray(schema.anyOf) ? schema.anyOf : []), ...schema.oneOf];
    delete schema.oneOf;
  }
  if (typeof schema.exclusiveMinimum === "boolean") delete schema.exclusiveMinimum;
  if (typeof schema.exclusiveMaximum === "boolean") delete schema.exclusiveMaximum;
  for (const key of ["nullable", "discriminator", "$recursiveRef", "$recursiveAnchor"]) delete schema[key];
  for (const [key, value] of Object.entries(schema)) if (!DATA.has(key)) modernise(value, seen);
}

class Checker implements RequestChecker {
  readonly #document: Schema;
  readonly #schema: Schema;
  readonly #validate: ValidateFunction;

  constructor(document: Schema, schema: Schema) {
    this.#document = document;
    this.#schema = schema;
    const ajv = new Ajv2020({
      strict: false,
      validateSchema: false,
      validateFormats: false,
      allErrors: true,
      logger: false,
    });
    ajv.addSchema(document as AnySchemaObject, "spec");
    const absolute: unknown = JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#', '"$ref":"spec#'));
    this.#validate = ajv.compile(absolute as AnySchemaObject);
  }

  problems(body: unknown): string[] {
    const found: string[] = [];
    if (!this.#validate(body)) {
      // The deepest errors are the most precise. A union reports one for each branch.
      const errors = [...(this.#validate.errors ?? [])];
      errors.sort((a, b) => b.instancePath.split("/").length - a.instancePath.split("/").length);
      for (const error of errors.slice(0, 8)) {
        found.push(`${error.instancePath} ${error.message} ${JSON.stringify(error.params).slice(0, 120)}`);
      }
    }
    this.#unknown([this.#schema], body, "", found, 0);
    return found;
  }

  #resolve(schema: Schema): Schema {
    let at: unknown = schema;
    while (isSchema(at) && typeof at.$ref === "string") {
      let target: unknown = this.#document;
      for (const step of at.$ref.slice(2).split("/")) {
        target = isSchema(target) ? target[step.replaceAll("~1", "/").replaceAll("~0", "~")] : undefined;
      }
      at = target;
    }
    return isSchema(at) ? at : {};
  }

  /** Returns all schemas that apply to a value, with references, unions and intersections resolved. */
  #open(schemas: readonly unknown[]): Schema[] {
    const open: Schema[] = [];
    const seen = new Set<Schema>();
    const queue = [...schemas];
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
      if (!isSchema(next)) continue;
      const schema = this.#resolve(next);
      if (seen.has(schema)) continue;
      seen.add(schema);
      open.push(schema);
      for (const key of ["allOf", "anyOf"]) {
        const branches = schema[key];
        if (Array.isArray(branches)) queue.push(...branches);
      }
    }
    return open;
  }

  /** Returns true if the tags (`type`, `role`) of a branch match the value. */
  #fits(schema: Schema, value: Schema): boolean {
    const properties = isSchema(schema.properties) ? schema.properties : {};
    return ["type", "role", "mode"].every((tag) => {
      const declared = properties[tag];
      if (!isSchema(declared) || value[tag] === undefined) return true;
      const tagSchema = this.#resolve(declared);
      if (tagSchema.const !== undefined) return tagSchema.const === value[tag];
      return !Array.isArray(tagSchema.enum) || tagSchema.enum.includes(value[tag]);
    });
  }

  /** Finds properties that no matching branch declares. Objects without declared properties are skipped. */
  #unknown(schemas: readonly unknown[], value: unknown, at: string, found: string[], depth: number): void {
    if (depth > 20 || typeof value !== "object" || value === null) return;
    const open = this.#open(schemas);
    if (Array.isArray(value)) {
      const items = open.map((schema) => schema.items).filter(isSchema);
      for (const [i, item] of value.entries())
        if (items.length > 0) this.#unknown(items, item, `${at}/${i}`, found, depth + 1);
      return;
    }
    if (!isSchema(value)) return;
    const fitting = open.filter((schema) => this.#fits(schema, value));
    const shapes = fitting.filter((schema) => isSchema(schema.properties));
    const free = fitting.some((schema) => {
      const more = schema.additionalProperties;
      return more === true || (isSchema(more) && !isSchema(schema.properties));
    });
    if (free || shapes.length === 0) return;
    for (const [key, item] of Object.entries(value)) {
      const declared = shapes
        .map((schema) => (isSchema(schema.properties) ? schema.properties[key] : undefined))
        .filter(isSchema);
      if (declared.length === 0) found.push(`${at}/${key} is not in the document`);
      else this.#unknown(declared, item, `${at}/${key}`, found, depth + 1);
    }
  }
}

const checkers = new Map<string, RequestChecker | undefined>();

/**
 * Returns the checker for `POST` on `path` of a vendor's document, or `undefined` with a printed note if the document
 * is missing.
 * @param relax required properties that the service does not need, as `{ Schema: ["property"] }`
 */
export function requestChecker(
  name: SpecName,
  path: string,
  relax: Readonly<Record<string, readonly string[]>> = {},
): RequestChecker | undefined {
  const key = `${name} ${path}`;
  if (checkers.has(key)) return checkers.get(key);
  const text = readSpec(name);
  if (text === undefined) {
    console.log(`skipped: ${name} is checked only if SIGNALBOX_RECORDINGS is set`);
    checkers.set(key, undefined);
    return undefined;
  }
  const document: unknown = name.endsWith(".json") ? JSON.parse(text) : parse(text, { maxAliasCount: -1 });
  if (!isSchema(document)) throw new TypeError(`${name} is not an object`);
  modernise(document, new Set());
  const schemas = dig(document, "components", "schemas");
  for (const [schema, names] of Object.entries(relax)) {
    const target = schemas[schema];
    if (!isSchema(target) || !Array.isArray(target.required))
      throw new TypeError(`${name} has no ${schema}.required`);
    target.required = target.required.filter((one) => !names.includes(one));
  }
  const operation = dig(
    document,
    "paths",
    path,
    "post",
    "requestBody",
    "content",
    "application/json",
    "schema",
  );
  const checker = new Checker(document, operation);
  checkers.set(key, checker);
  return checker;
}

function dig(value: unknown, ...path: readonly string[]): Schema {
  let at: unknown = value;
  for (const step of path) at = isSchema(at) ? at[step] : undefined;
  if (!isSchema(at)) throw new TypeError(`nothing at ${path.join(" / ")}`);
  return at;
}
