import type { Block, JsonValue, Model, Native } from "@signalbox/agent-core";
import { isRaw, type Raw } from "./json.ts";

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
