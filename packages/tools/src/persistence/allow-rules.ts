import type { KvStore } from "@signalbox/store/types";
import { z } from "zod";
import { type AllowRule, parseAllowRule } from "../shell/allow-rule.ts";

/** Stores all rules of an agent in one value. No longer written, but read so that stored rules stay valid. */
const LISTS = "standing-rules";
const listSchema = z.array(z.array(z.string()));
const ruleSchema = listSchema.element;

/** Returns the namespace with one value for each rule of an agent, so that two processes can add rules concurrently. */
function namespaceOf(agentId: string): string {
  return `allow-rules/${agentId}`;
}

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
  const getStored = async (agentId: string): Promise<AllowRule[]> => {
    const [list, rows] = await Promise.all([kv.get(LISTS, agentId), kv.list(namespaceOf(agentId))]);
    const rules = [...listSchema.parse(list ?? []), ...rows.map(({ value }) => ruleSchema.parse(value))];
    return [...new Map(rules.map((rule) => [JSON.stringify(rule), rule])).values()];
  };
  return {
    get: async (agentId) => [...getConfigured().map(parseAllowRule), ...(await getStored(agentId))],
    async add(agentId, rules) {
      const add = (rule: AllowRule) => kv.set(namespaceOf(agentId), JSON.stringify(rule), rule);
      await Promise.all(rules.map(add));
    },
  };
}
