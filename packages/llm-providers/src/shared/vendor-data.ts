import type { Block, JsonValue, Model, Native } from "@signalbox/agent-core";
import { isRaw, type Raw } from "./json.ts";

/** Marks vendor data as belonging to `model`. */
export function nativeOf(model: Model, data: JsonValue): Native {
  return { api: model.api, provider: model.provider, model: model.id, data };
}

/** Whether what carries this origin was made by `model` itself. */
export function isMadeBy(origin: Omit<Native, "data">, { api, provider, id }: Model): boolean {
  return origin.model === id && origin.provider === provider && origin.api === api;
}

/** A block's vendor data, if `model` itself made it. */
export function ownData({ native }: Block, model: Model): Raw | undefined {
  if (native === undefined || !isMadeBy(native, model)) return undefined;
  return isRaw(native.data) ? native.data : undefined;
}
