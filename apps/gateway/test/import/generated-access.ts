import { loadConfig } from "@signalbox/config";
import { createAdmission } from "@signalbox/routing";
import fc from "fast-check";
import { expect } from "vitest";
import { stringify } from "yaml";
import { convertConfiguration } from "../../src/import/openclaw/configuration.ts";
import type { ReadOptions } from "../../src/import/source.ts";
import { NOW } from "./import-run.ts";

const PEOPLE = ["1", "2", "3"];
const GROUPS = ["-101", "-102"];

interface Rules {
  readonly dmPolicy?: "disabled" | "allowlist" | "pairing" | "open";
  readonly allowFrom?: readonly string[];
  readonly groupPolicy?: "disabled" | "allowlist" | "open";
  readonly groupAllowFrom?: readonly string[];
  readonly groups?: Readonly<
    Record<string, { readonly allowFrom?: readonly string[]; readonly requireMention?: boolean }>
  >;
  readonly requireMention?: boolean;
}

const people = fc.uniqueArray(fc.constantFrom(...PEOPLE, "*"), { maxLength: 3 });
const rules: fc.Arbitrary<Rules> = fc.record(
  {
    dmPolicy: fc.constantFrom("disabled", "allowlist", "pairing", "open"),
    allowFrom: people,
    groupPolicy: fc.constantFrom("disabled", "allowlist", "open"),
    groupAllowFrom: people,
    groups: fc.dictionary(
      fc.constantFrom(...GROUPS, "*"),
      fc.record({ allowFrom: people, requireMention: fc.boolean() }, { requiredKeys: [] }),
      { maxKeys: 2 },
    ),
    requireMention: fc.boolean(),
  },
  { requiredKeys: [] },
);
const homes = fc.record({
  flat: rules,
  named: fc.dictionary(fc.constantFrom("ops", "home"), rules, { maxKeys: 2 }),
  owners: fc.uniqueArray(fc.constantFrom(...PEOPLE), { maxLength: 1 }),
  paired: fc.uniqueArray(fc.tuple(fc.constantFrom("default", "ops", "home"), fc.constantFrom(...PEOPLE)), {
    maxLength: 4,
    selector: String,
  }),
  known: fc.uniqueArray(fc.constantFrom(...GROUPS)),
});

const OPTIONS: ReadOptions = {
  dir: "/",
  agents: {},
  accounts: {},
  owners: [],
  all: false,
  keepUnsupported: false,
  trustMemory: false,
  inPlace: false,
  hiddenMessagesMs: 0,
  env: {},
  now: NOW,
  timeZone: "UTC",
};

/** Converts generated configurations, and compares the admission here with OpenClaw's documented rules. */
export function expectStricterOrEqual(runs: number): void {
  let answered = 0;
  fc.assert(
    fc.property(homes, ({ flat, named, owners, paired, known }) => {
      const pairings = paired.map(([account, peerId]) => ({ channel: "telegram", account, peerId }));
      const token = "5551234:AA-invented-bot-token";
      const telegram = {
        ...flat,
        botToken: token,
        ...(Object.keys(named).length === 0
          ? {}
          : {
              accounts: Object.fromEntries(
                Object.entries(named).map(([name, own]) => [name, { ...own, botToken: token }]),
              ),
            }),
      };
      const { imports } = convertConfiguration(
        { channels: { telegram }, commands: { ownerAllowFrom: owners.map((id) => `telegram:${id}`) } },
        {
          secrets: { env: {}, store: {}, profiles: {} },
          paired: pairings,
          knownGroups: new Map([["telegram", new Set(known)]]),
          severalPeople: false,
          execApprovals: undefined,
        },
        OPTIONS,
      );
      const section = imports.find((each) => each.kind === "setting" && each.path[0] === "access");
      const { config, problems } = loadConfig({
        file: "signalbox.yaml",
        text: stringify({ access: section?.kind === "setting" ? section.value : {} }),
        env: {},
      });
      expect(problems.filter(({ severity }) => severity === "error")).toEqual([]);
      const admission = createAdmission(config.access);
      const accounts = Object.entries({ default: {}, ...named }) as [string, Rules][];
      for (const [account, own] of accounts) {
        const effective = { ...flat, ...own };
        for (const id of PEOPLE) {
          const isPaired = imports.some(
            (each) => each.kind === "person" && each.account === account && each.peerId === id,
          );
          const direct = admission.decide(
            {
              channel: "telegram",
              conversationKind: "direct",
              conversationId: id,
              senderId: id,
              addressed: "dm",
            },
            isPaired,
          );
          const wasPaired = pairings.some((each) => each.account === account && each.peerId === id);
          if (direct.kind === "answer") {
            answered++;
            expect(mayWrite(effective, id, wasPaired), `${account}, direct, ${id}`).toBe(true);
          }
          for (const group of GROUPS)
            for (const mentions of [true, false]) {
              const decision = admission.decide({
                channel: "telegram",
                conversationKind: "group",
                conversationId: group,
                senderId: id,
                addressed: mentions ? "mention" : "none",
              });
              if (decision.kind !== "answer") continue;
              answered++;
              expect(maySpeak(effective, group, id, mentions), `${account}, ${group}, ${id}`).toBe(true);
            }
        }
      }
    }),
    { numRuns: runs },
  );
  // A conversion that admits nobody would pass otherwise.
  expect(answered).toBeGreaterThan(runs / 4);
}

/** OpenClaw's rule for direct messages. `open` needs `*` in the list, and a pairing counts for its account. */
function mayWrite({ dmPolicy = "pairing", allowFrom = [] }: Rules, id: string, isPaired: boolean): boolean {
  if (dmPolicy === "disabled") return false;
  return allowFrom.includes("*") || allowFrom.includes(id) || (dmPolicy === "pairing" && isPaired);
}

/** OpenClaw's rule for groups: both the group and the sender must be allowed, and a pairing never counts. */
function maySpeak(rules: Rules, group: string, id: string, mentions: boolean): boolean {
  const { groupPolicy = "allowlist", groups, allowFrom = [], groupAllowFrom = allowFrom } = rules;
  if (groupPolicy === "disabled") return false;
  const own = groups === undefined ? {} : (groups[group] ?? groups["*"]);
  if (own === undefined) return false;
  const list = own.allowFrom ?? (groupPolicy === "open" ? ["*"] : groupAllowFrom);
  const needsMention = own.requireMention ?? rules.requireMention ?? true;
  return (list.includes("*") || list.includes(id)) && (mentions || !needsMention);
}
