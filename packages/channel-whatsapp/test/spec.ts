import type { FakeWhatsApp } from "@signalbox/testkit/whatsapp";
import { readSpec } from "@signalbox/testkit/wire";
import { Ajv2020, type AnySchemaObject } from "ajv/dist/2020.js";
import { parse } from "yaml";

type Schema = Record<string, unknown>;

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Documented fields that Meta's OpenAPI document lacks, by schema. */
const MISSING_FIELDS: Readonly<Record<string, readonly string[]>> = {
  BaseMessageProperties: ["biz_opaque_callback_data", "recipient"],
  MarkMessageRequestPayload: ["typing_indicator"],
  // The document's own examples contain `filename`.
  MediaObject: ["filename", "voice"],
};

/**
 * Repairs the document: the members of its `allOf` forbid each other's fields, although the fields of all of them are
 * allowed. Objects that do not say whether they allow other fields allow none.
 */
function close(schema: unknown): void {
  if (Array.isArray(schema)) {
    for (const one of schema) close(one);
    return;
  }
  if (!isSchema(schema)) return;
  delete schema["discriminator"];
  for (const [key, value] of Object.entries(schema))
    if (key !== "example" && key !== "examples") close(value);
  if (Array.isArray(schema["allOf"])) {
    for (const member of schema["allOf"]) if (isSchema(member)) delete member["additionalProperties"];
    schema["unevaluatedProperties"] = false;
  } else if (isSchema(schema["properties"])) schema["additionalProperties"] ??= false;
}

function open(text: string) {
  const document: unknown = parse(text, { maxAliasCount: -1 });
  const components = isSchema(document) ? document["components"] : undefined;
  const schemas = isSchema(components) ? components["schemas"] : undefined;
  if (!isSchema(schemas)) throw new TypeError("The document has no schemas.");
  close(schemas);
  const base = schemas["BaseMessageProperties"];
  if (!isSchema(base)) throw new TypeError("The document has no BaseMessageProperties.");
  // As a member of `allOf`, it does not forbid the fields of the other members.
  delete base["additionalProperties"];
  base["required"] = ["messaging_product", "recipient_type", "type"];
  base["anyOf"] = [{ required: ["to"] }, { required: ["recipient"] }];
  for (const [name, fields] of Object.entries(MISSING_FIELDS)) {
    const schema = schemas[name];
    const variants = isSchema(schema) && Array.isArray(schema["oneOf"]) ? schema["oneOf"] : [schema];
    for (const variant of variants) {
      if (!isSchema(variant) || !isSchema(variant["properties"])) throw new TypeError(`There is no ${name}.`);
      for (const field of fields) variant["properties"][field] = {};
    }
  }
  const ajv = new Ajv2020({ strict: false, validateSchema: false, validateFormats: false, logger: false });
  ajv.addSchema({ components: { schemas } } as AnySchemaObject, "spec");
  return (name: string, value: unknown): string[] => {
    const validate = ajv.getSchema(`spec#/components/schemas/${name}`);
    if (validate === undefined) throw new TypeError(`There is no ${name}.`);
    if (validate(value) === true) return [];
    return (validate.errors ?? []).map((one) => `${one.instancePath} ${one.message}`);
  };
}

let checker: { readonly find: ReturnType<typeof open> | undefined } | undefined;

/** Returns a function that finds the violations of a value, or `undefined` if the document is not available. */
export function getSpec(): ReturnType<typeof open> | undefined {
  if (checker === undefined) {
    const text = readSpec("whatsapp.yaml");
    if (text === undefined)
      console.log("skipped: Meta's API document is checked only if SIGNALBOX_RECORDINGS is set");
    checker = { find: text === undefined ? undefined : open(text) };
  }
  return checker.find;
}

/** Returns the violations of Meta's document in the JSON bodies that a fake server received. */
export function findViolations({ requests }: Pick<FakeWhatsApp, "requests">): readonly string[] {
  const find = getSpec();
  if (find === undefined) return [];
  return requests.flatMap(({ method, path, text }) => {
    if (method !== "POST" || !path.endsWith("/messages")) return [];
    const body: unknown = JSON.parse(text);
    const schema = isSchema(body) && "status" in body ? "MarkMessageRequestPayload" : "Message";
    return find(schema, body).map((problem) => `${text}: ${problem}`);
  });
}
