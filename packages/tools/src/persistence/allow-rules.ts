import type { KvStore } from "@signalbox/store/types";
import { z } from "zod";
import { type AllowRule, parseAllowRule } from "../shell/allow-rule.ts";

/** The namespace keeps its original name so that stored rules stay valid. */
const NAMESPACE = "standing-rules";
const rulesSchema = z.array(z.array(z.string()));

/** The commands that each agent may run without approval, from the configuration and from `allow-always` decisions. */
export interface AllowRules {
  get(agentId: string): Promise<readonly AllowRule[]>;
  add(agentId: string, rules: readonly AllowRule[]): Promise<void>;
}

/**
 * Creates allow rules on top of a key-value store.
 *
 * @param getConfigured returns the rules of the current configuration. Called on every lookup.
 */
export function createAllowRules(kv: KvStore, getConfigured: () => readonly string[]): AllowRules {
  const getStored = async (agentId: string): Promise<AllowRule[]> =>
    rulesSchema.parse((await kv.get(NAMESPACE, agentId)) ?? []);
  const add = async (agentId: string, rules: readonly AllowRule[]): Promise<void> => {
    const all = [...(await getStored(agentId)), ...rules];
    const texts = new Set(all.map((rule) => JSON.stringify(rule)));
    await kv.set(
      NAMESPACE,
      agentId,
      [...texts].map((text): string[] => rulesSchema.element.parse(JSON.parse(text))),
    );
  };
  // Additions run one at a time, because each reads the list before writing it.
  let last: Promise<unknown> = Promise.resolve();
  return {
    get: async (agentId) => [...getConfigured().map(parseAllowRule), ...(await getStored(agentId))],
    add(agentId, rules) {
      const added = last.then(() => add(agentId, rules));
      last = added.catch(() => {});
      return added;
    },
  };
}
