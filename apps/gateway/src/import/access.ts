import type { Item } from "./item.ts";

/** Rules of one group of an account in the source. */
export interface SourceGroup {
  /** Ids of those who may write there. `*` is everyone. Absent: the account's `groupPeople`. */
  readonly people?: readonly string[] | undefined;
  readonly requireMention?: boolean | undefined;
  readonly tools?: { readonly allow?: readonly string[]; readonly deny?: readonly string[] } | undefined;
  readonly prompt?: string | undefined;
}

/** Access rules of one account in the source. Ids are those of the platform, and `*` is everyone. */
export interface SourceAccount {
  readonly channel: string;
  readonly account: string;
  readonly dm: "off" | "allowlist" | "pairing" | "open";
  /** Ids that may write direct messages. */
  readonly people: readonly string[];
  /** Ids that were paired. They may write direct messages, and nothing in groups. */
  readonly paired: readonly string[];
  /** Ids that may write in every allowed group. */
  readonly groupPeople: readonly string[];
  /** The groups in which the account answers, or `any`. */
  readonly groups: "any" | ReadonlyMap<string, SourceGroup>;
  readonly requireMention: boolean;
  /** Groups in which the account has conversations. They replace `any`. */
  readonly knownGroups: readonly string[];
}

/** Access rules that admit at most the people whom every rule of the source admits. */
export interface MergedAccess {
  readonly dm: SourceAccount["dm"];
  readonly owners: readonly string[];
  readonly allow: readonly string[];
  readonly groups: ReadonlyMap<string, MergedGroup>;
  /** People who may write direct messages to one account only. */
  readonly pairings: readonly {
    readonly channel: string;
    readonly account: string;
    readonly peerId: string;
  }[];
  readonly notes: readonly AccessNote[];
}

interface MergedGroup {
  readonly people: "anyone" | readonly string[];
  readonly requireMention: boolean;
  readonly tools?: SourceGroup["tools"];
  readonly prompt?: string | undefined;
}

/** A person or a group that is not admitted as it was in the source. */
interface AccessNote {
  readonly id: string;
  readonly why: string;
}

/** From the strictest to the most permissive rule. */
const DM_RULES = ["off", "allowlist", "pairing", "open"] as const;

/**
 * Merges the rules of all accounts. Access here is one for the gateway, so where accounts differ, the stricter rule
 * applies.
 *
 * @param owners ids of owners in the source, as `channel:id`
 */
export function mergeAccess(accounts: readonly SourceAccount[], owners: readonly string[]): MergedAccess {
  const notes: AccessNote[] = [];
  const dm = DM_RULES[Math.min(...accounts.map((each) => DM_RULES.indexOf(getRule(each))), 3)] ?? "off";
  const strictest = accounts.length === 0 ? "pairing" : dm;
  const of = (channel: string) => accounts.filter((each) => each.channel === channel);
  const mayWriteEverywhere = (channel: string, id: string): boolean =>
    of(channel).every((each) => mayWrite(each, id));

  const admittedOwners = owners.filter((owner) => {
    const [channel = "", id = ""] = owner.split(/:(.*)/s);
    if (id === "" || id === "*") return note(notes, owner, "Not the id of one person.");
    if (of(channel).length === 0) return true;
    if (mayWriteEverywhere(channel, id)) return true;
    return note(
      notes,
      owner,
      "Owners may write to every account, and this one may not write to some account of the source. Add it to access.owners yourself.",
    );
  });
  const isOwner = (channel: string, id: string): boolean => admittedOwners.includes(`${channel}:${id}`);

  const allow = new Set<string>();
  const pairings: { channel: string; account: string; peerId: string }[] = [];
  for (const each of accounts) {
    const { channel, account } = each;
    for (const peerId of new Set([...each.people, ...each.paired])) {
      if (peerId === "*" || isOwner(channel, peerId) || !mayWrite(each, peerId)) continue;
      if (strictest === "open") continue;
      if (mayWriteEverywhere(channel, peerId) && strictest !== "off") allow.add(`${channel}:${peerId}`);
      else if (strictest === "pairing") pairings.push({ channel, account, peerId });
      else
        note(
          notes,
          `${channel}:${account}:${peerId}`,
          `Could write to the account ${account}. access.dm is ${strictest} here, as it was for another account.`,
        );
    }
  }

  const groups = new Map<string, MergedGroup>();
  for (const channel of new Set(accounts.map((each) => each.channel))) {
    const ownersHere = admittedOwners
      .filter((owner) => owner.startsWith(`${channel}:`))
      .map((owner) => owner.slice(channel.length + 1));
    for (const group of new Set(of(channel).flatMap(groupsOf))) {
      const merged = mergeGroup(of(channel), channel, group, ownersHere);
      if (typeof merged === "string") note(notes, `${channel}:${group}`, merged);
      else groups.set(`${channel}:${group}`, merged);
    }
  }
  return { dm: strictest, owners: admittedOwners, allow: [...allow], groups, pairings, notes };
}

function note(notes: AccessNote[], id: string, why: string): false {
  notes.push({ id, why });
  return false;
}

/** Returns the rule of an account for direct messages. In the source, `open` needs `*` in the list, too. */
function getRule({ dm, people }: SourceAccount): SourceAccount["dm"] {
  return dm === "open" && !people.includes("*") ? "allowlist" : dm;
}

/** Returns true if the source answers direct messages of this person to the account. */
function mayWrite({ dm, people, paired }: SourceAccount, id: string): boolean {
  if (dm === "off") return false;
  if (dm === "open") return people.includes("*") || people.includes(id);
  if (people.includes(id) || people.includes("*")) return true;
  return dm === "pairing" && paired.includes(id);
}

/** Returns the groups of an account. Rules that name every group are applied to those with conversations. */
function groupsOf({ groups, knownGroups }: SourceAccount): readonly string[] {
  if (groups === "any") return knownGroups;
  const named = [...groups.keys()].filter((id) => id !== "*");
  return groups.has("*") ? [...named, ...knownGroups] : named;
}

function mergeGroup(
  accounts: readonly SourceAccount[],
  channel: string,
  group: string,
  owners: readonly string[],
): MergedGroup | string {
  const rules = accounts.map((each) => ruleFor(each, group));
  if (rules.some((rule) => rule === undefined))
    return "Another account of this channel does not answer in this group, and access here is one for all accounts.";
  const known = rules.filter((rule) => rule !== undefined);
  const lists = known.map(({ people }) => people);
  const limited = lists.filter((list) => !list.includes("*"));
  const [first = []] = limited;
  const people =
    limited.length === 0
      ? ("anyone" as const)
      : first.filter((id) => limited.every((list) => list.includes(id)));
  if (people !== "anyone") {
    if (people.length === 0) return "Nobody could write there.";
    const stranger = owners.find((owner) => !people.includes(owner));
    if (stranger !== undefined)
      return `Owners are answered in every group, and ${channel}:${stranger} could not write in this one.`;
  }
  const allowLists = known.flatMap(({ tools }) => (tools?.allow === undefined ? [] : [tools.allow]));
  const allow = allowLists.reduce<readonly string[] | undefined>(
    (all, list) => (all === undefined ? list : all.filter((tool) => list.includes(tool))),
    undefined,
  );
  const deny = [...new Set(known.flatMap(({ tools }) => tools?.deny ?? []))];
  const prompts = [...new Set(known.flatMap(({ prompt }) => prompt ?? []))];
  return {
    people,
    requireMention: known.some(({ requireMention }) => requireMention),
    ...(allow === undefined && deny.length === 0
      ? {}
      : { tools: { ...(allow === undefined ? {} : { allow }), ...(deny.length === 0 ? {} : { deny }) } }),
    ...(prompts.length === 0 ? {} : { prompt: prompts.join("\n\n") }),
  };
}

/** Returns the rule of an account for a group, or undefined if the account does not answer there. */
function ruleFor(account: SourceAccount, group: string) {
  const { groups, groupPeople, requireMention } = account;
  const own = groups === "any" ? {} : (groups.get(group) ?? groups.get("*"));
  if (own === undefined) return undefined;
  return {
    people: own.people ?? groupPeople,
    requireMention: own.requireMention ?? requireMention,
    tools: own.tools,
    prompt: own.prompt,
  };
}

/** A person who was paired with an account. */
interface Pairing {
  readonly channel: string;
  readonly account: string;
  readonly peerId: string;
}

/** Returns an item for each pairing of the source that becomes no pairing here and that no note names. */
export function listOtherPairings(
  paired: readonly Pairing[],
  accounts: readonly SourceAccount[],
  merged: MergedAccess,
): readonly Item[] {
  const known = new Set([...merged.pairings.map(formatPairing), ...merged.notes.map(({ id }) => id)]);
  const others = new Map(paired.map((each) => [formatPairing(each), each]));
  return [...others].flatMap(([id, each]): readonly Item[] => {
    if (known.has(id)) return [];
    const isImported = accounts.some(
      ({ channel, account }) => channel === each.channel && account === each.account,
    );
    return [
      isImported
        ? { part: "people", id, state: "skipped", why: explainPairing(each, merged) }
        : { part: "people", id, state: "unsupported", why: "Its account is not imported." },
    ];
  });
}

/** Returns the id of a pairing in reports. */
export const formatPairing = ({ channel, account, peerId }: Pairing): string =>
  `${channel}:${account}:${peerId}`;

function explainPairing({ channel, peerId }: Pairing, { owners, allow, dm }: MergedAccess): string {
  const person = `${channel}:${peerId}`;
  if (owners.includes(person)) return "access.owners names this person.";
  if (allow.includes(person)) return "access.allow names this person.";
  return dm === "open" ? "access.dm admits everyone." : "The account did not answer this person.";
}

/** Returns the section `access` for merged rules. */
export function toAccessSection(
  merged: MergedAccess,
  historyLimit: number | undefined,
): Record<string, unknown> {
  const { dm, owners, allow, groups } = merged;
  const rules = [...groups].map(([id, { people, requireMention, tools, prompt }]) => [
    id,
    {
      people: people === "anyone" ? "anyone" : "listed",
      ...(people === "anyone" ? {} : { allow: people.map((person) => `${id.split(":", 1)[0]}:${person}`) }),
      requireMention,
      ...(tools === undefined ? {} : { tools }),
      ...(prompt === undefined ? {} : { prompt }),
    },
  ]);
  return {
    dm,
    ...(owners.length === 0 ? {} : { owners }),
    ...(allow.length === 0 ? {} : { allow }),
    groups: {
      mode: groups.size === 0 ? "off" : "allowlist",
      people: "members",
      ...(groups.size === 0 ? {} : { allow: [...groups.keys()] }),
      ...(historyLimit === undefined ? {} : { historyLimit }),
      ...(rules.length === 0 ? {} : { rules: Object.fromEntries(rules) }),
    },
  };
}
