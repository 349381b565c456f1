import type { JsonValue } from "@signalbox/agent-core";

/** Values that outlive the process, by a namespace and a key. Each method is durable once it resolves. */
export interface KeyValues {
  get(namespace: string, key: string): Promise<unknown>;
  set(namespace: string, key: string, value: JsonValue): Promise<void>;
  delete(namespace: string, key: string): Promise<unknown>;
  list(namespace: string): Promise<readonly { readonly key: string; readonly value: unknown }[]>;
}
