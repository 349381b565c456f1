import { z } from "zod";
import { readRule, type StandingRule } from "../shell/standing-rules.ts";
import type { KeyValues } from "./key-values.ts";

const NAMESPACE = "standing-rules";
const rulesSchema = z.array(z.array(z.string()));

/** What agents may run unasked: by the configuration, and by what owners have allowed for always. */
export interface StandingRules {
  of(agentId: string): Promise<readonly StandingRule[]>;
  add(agentId: string, rules: readonly StandingRule[]): Promise<void>;
}

/** @param configured asked each time */
export function createStandingRules(kv: KeyValues, configured: () => readonly string[]): StandingRules {
  const allowed = async (agentId: string): Promise<StandingRule[]> =>
    rulesSchema.parse((await kv.get(NAMESPACE, agentId)) ?? []);
  const add = async (agentId: string, rules: readonly StandingRule[]): Promise<void> => {
    const all = [...(await allowed(agentId)), ...rules];
    const texts = new Set(all.map((rule) => JSON.stringify(rule)));
    await kv.set(
      NAMESPACE,
      agentId,
      [...texts].map((text): string[] => rulesSchema.element.parse(JSON.parse(text))),
    );
  };
  // One after the other: of two at once each would write without the other's.
  let last: Promise<unknown> = Promise.resolve();
  return {
    of: async (agentId) => [...configured().map(readRule), ...(await allowed(agentId))],
    add(agentId, rules) {
      const added = last.then(() => add(agentId, rules));
      last = added.catch(() => {});
      return added;
    },
  };
}
