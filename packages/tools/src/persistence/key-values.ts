/** Stored JSON values by namespace and key. Each method is durable once it resolves. */
export interface KeyValues {
  get(namespace: string, key: string): Promise<unknown>;
  set(namespace: string, key: string, value: unknown): Promise<void>;
  delete(namespace: string, key: string): Promise<unknown>;
  list(namespace: string): Promise<readonly { readonly key: string; readonly value: unknown }[]>;
}
