import type { Block, JsonObject, JsonValue, Model, Native } from "@signalbox/agent-core";
import { isRaw, type Raw } from "./raw.ts";

/** Marks vendor data as belonging to `model`. */
export function nativeOf(model: Model, data: JsonValue): Native {
  return { api: model.api, provider: model.provider, model: model.id, data };
}

/** A block's vendor data, if `model` itself made it. */
export function ownData(block: Block, model: Model): Raw | undefined {
  const native = block.native;
  if (native === undefined || native.api !== model.api) return undefined;
  if (native.provider !== model.provider || native.model !== model.id) return undefined;
  return isRaw(native.data) ? native.data : undefined;
}

/** What came off the wire, as JSON that may be kept. It was parsed from JSON, so that it is. */
export function keepJson(value: Raw): JsonObject {
  const kept: [string, JsonValue][] = [];
  for (const [key, item] of Object.entries(value)) if (isJson(item)) kept.push([key, item]);
  // Not by assignment, which would take a key `__proto__` for the prototype.
  return Object.fromEntries(kept);
}

function isJson(value: unknown): value is JsonValue {
  if (value === null) return true;
  switch (typeof value) {
    case "string":
    case "number":
    case "boolean":
      return true;
    case "object":
      return Array.isArray(value) ? value.every(isJson) : Object.values(value).every(isJson);
    default:
      return false;
  }
}
