import { readSpec } from "@signalbox/testkit/wire";
import { Ajv2020, type AnySchemaObject } from "ajv/dist/2020.js";
import { parse } from "yaml";

type Schema = Record<string, unknown>;

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Keys under which the document keeps data, not schemas. */
const DATA = new Set(["example", "examples", "default", "enum", "const"]);

/** OpenAPI 3.0's ways put into JSON Schema's, in place. Published `oneOf` branches overlap, so that any may fit. */
function modernise(schema: unknown): void {
  if (Array.isArray(schema)) for (const one of schema) modernise(one);
  if (!isSchema(schema)) return;
  if (schema["nullable"] === true && typeof schema["type"] === "string")
    schema["type"] = [schema["type"], "null"];
  if (Array.isArray(schema["oneOf"])) {
    schema["anyOf"] = [...(Array.isArray(schema["anyOf"]) ? schema["anyOf"] : []), ...schema["oneOf"]];
    delete schema["oneOf"];
  }
  for (const key of ["nullable", "discriminator", "$recursiveRef", "$recursiveAnchor"]) delete schema[key];
  for (const [key, value] of Object.entries(schema)) if (!DATA.has(key)) modernise(value);
}

/** The document's name of each event's schema. */
const EVENTS = {
  "response.created": "ResponseCreatedEvent",
  "response.in_progress": "ResponseInProgressEvent",
  "response.output_item.added": "ResponseOutputItemAddedEvent",
  "response.content_part.added": "ResponseContentPartAddedEvent",
  "response.output_text.delta": "ResponseTextDeltaEvent",
  "response.output_text.done": "ResponseTextDoneEvent",
  "response.content_part.done": "ResponseContentPartDoneEvent",
  "response.output_item.done": "ResponseOutputItemDoneEvent",
  "response.completed": "ResponseCompletedEvent",
  "response.incomplete": "ResponseIncompleteEvent",
  "response.failed": "ResponseFailedEvent",
};

/** Says what is wrong with a value by the vendor's own document. */
export interface SpecCheck {
  response(value: unknown): string[];
  event(value: { readonly type: string }): string[];
}

/** Returns `undefined` and prints a note if OpenAI's API document is missing. */
export function openAiSpec(): SpecCheck | undefined {
  const text = readSpec("openai.yaml");
  if (text === undefined) {
    console.log("skipped: OpenAI's API document is checked only if SIGNALBOX_RECORDINGS is set");
    return undefined;
  }
  const document: unknown = parse(text, { maxAliasCount: -1 });
  modernise(document);
  const ajv = new Ajv2020({ strict: false, validateSchema: false, validateFormats: false, logger: false });
  ajv.addSchema(document as AnySchemaObject, "spec");
  const check = (schema: string, value: unknown): string[] => {
    const validate = ajv.getSchema(`spec#/components/schemas/${schema}`);
    if (!validate) throw new TypeError(`the document has no ${schema}`);
    if (validate(value)) return [];
    // The deepest complaints say most; a union complains for each of its branches.
    return (validate.errors ?? [])
      .toSorted((a, b) => b.instancePath.split("/").length - a.instancePath.split("/").length)
      .slice(0, 5)
      .map((error) => `${error.instancePath} ${error.message} ${JSON.stringify(error.params)}`);
  };
  return {
    response: (value) => check("Response", value),
    event(value) {
      const schema = Object.entries(EVENTS).find(([type]) => type === value.type)?.[1];
      return schema === undefined ? [`${value.type} is not expected`] : check(schema, value);
    },
  };
}
