import { createAdmission } from "@signalbox/routing";
import fc from "fast-check";
import { expect, it } from "vitest";
import { mergeAccess, type SourceAccount, toAccessSection } from "./access.ts";

const PEOPLE = ["1", "2", "3"];
const GROUPS = ["g1", "g2"];
const CHANNELS = ["telegram", "slack"];

const people = fc.uniqueArray(fc.constantFrom(...PEOPLE, "*"), { maxLength: 4 });
const rule = fc.record(
  { people, requireMention: fc.boolean(), tools: fc.record({ deny: fc.constant(["exec"]) }) },
  { requiredKeys: [] },
);
const account = fc.record({
  channel: fc.constantFrom(...CHANNELS),
  dm: fc.constantFrom("off" as const, "allowlist" as const, "pairing" as const, "open" as const),
  people,
  paired: fc.uniqueArray(fc.constantFrom(...PEOPLE)),
  groupPeople: people,
  groups: fc.oneof(
    fc.constant("any" as const),
    fc
      .uniqueArray(fc.tuple(fc.constantFrom(...GROUPS, "*"), rule), { selector: ([id]) => id })
      .map((entries) => new Map(entries)),
  ),
  requireMention: fc.boolean(),
  knownGroups: fc.uniqueArray(fc.constantFrom(...GROUPS)),
});
const home = fc
  .array(account, { minLength: 1, maxLength: 3 })
  .map((accounts) => accounts.map((each, index): SourceAccount => ({ ...each, account: `a${index}` })));
const owners = fc.uniqueArray(
  fc.constantFrom(...CHANNELS.flatMap((channel) => PEOPLE.map((id) => `${channel}:${id}`))),
);

/** OpenClaw's rule for direct messages, as its documentation states it. */
function mayWrite({ dm, people: listed, paired }: SourceAccount, id: string): boolean {
  switch (dm) {
    case "off":
      return false;
    case "open":
    case "allowlist":
      return listed.includes("*") || listed.includes(id);
    case "pairing":
      return listed.includes("*") || listed.includes(id) || paired.includes(id);
  }
}

/** OpenClaw's rule for groups: the group must be allowed, and so must the sender. A pairing does not count. */
function maySpeak(
  { groups, groupPeople, requireMention }: SourceAccount,
  group: string,
  id: string,
  mentions: boolean,
): boolean {
  const own = groups === "any" ? {} : (groups.get(group) ?? groups.get("*"));
  if (own === undefined) return false;
  const list = own.people ?? groupPeople;
  return (list.includes("*") || list.includes(id)) && (mentions || !(own.requireMention ?? requireMention));
}

it("admits nobody whom the source does not admit", () => {
  fc.assert(
    fc.property(home, owners, (accounts, ownerIds) => {
      const merged = mergeAccess(accounts, ownerIds);
      const admission = createAdmission(toAccessSection(merged, undefined));
      for (const each of accounts)
        for (const id of PEOPLE) {
          const { channel } = each;
          const isPaired = merged.pairings.some(
            (one) => one.channel === channel && one.account === each.account && one.peerId === id,
          );
          const direct = admission.decide(
            { channel, conversationKind: "direct", conversationId: id, senderId: id, addressed: "dm" },
            isPaired,
          );
          if (direct.kind === "answer") expect(mayWrite(each, id), `${each.account} direct ${id}`).toBe(true);
          for (const group of GROUPS)
            for (const mentions of [true, false]) {
              const decision = admission.decide({
                channel,
                conversationKind: "group",
                conversationId: group,
                senderId: id,
                addressed: mentions ? "mention" : "none",
              });
              if (decision.kind === "answer")
                expect(maySpeak(each, group, id, mentions), `${each.account} ${group} ${id}`).toBe(true);
            }
        }
    }),
    { numRuns: 500 },
  );
});

const ACCOUNT: SourceAccount = {
  channel: "telegram",
  account: "default",
  dm: "pairing",
  people: ["1"],
  paired: ["2"],
  groupPeople: ["1"],
  groups: new Map([["g1", {}]]),
  requireMention: true,
  knownGroups: [],
};

it("keeps the reach of a home with one account", () => {
  expect(toAccessSection(mergeAccess([ACCOUNT], ["telegram:1"]), 20)).toEqual({
    dm: "pairing",
    owners: ["telegram:1"],
    allow: ["telegram:2"],
    groups: {
      mode: "allowlist",
      people: "members",
      allow: ["telegram:g1"],
      historyLimit: 20,
      rules: { "telegram:g1": { people: "listed", allow: ["telegram:1"], requireMention: true } },
    },
  });
});

it("pairs a person who may write to one of several accounts only", () => {
  const other = { ...ACCOUNT, account: "ops", people: ["1"], paired: [] };
  const merged = mergeAccess([ACCOUNT, other], ["telegram:1"]);
  expect(merged.allow).toEqual([]);
  expect(merged.pairings).toEqual([{ channel: "telegram", account: "default", peerId: "2" }]);
});
