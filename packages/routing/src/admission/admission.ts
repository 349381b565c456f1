import type { Role } from "@signalbox/store/types";

export type { Role } from "@signalbox/store/types";

/** Rules about who may talk to an agent. People and conversations have the form `channel:id`. */
export interface AccessRules {
  /** Ids of the owners. They are answered even if direct messages are disabled. Default: none. */
  readonly owners?: readonly string[];
  /** Ids of people who are answered as members. Default: none. */
  readonly allow?: readonly string[];
  /** Rule for direct messages from everyone else. Default: `pairing`. */
  readonly dm?: "pairing" | "allowlist" | "open" | "off";
  readonly groups?: {
    /** Default: `allowlist`. */
    readonly mode?: "allowlist" | "open" | "off";
    /** Ids of the groups in which the agent answers. Default: none. */
    readonly allow?: readonly string[];
    /** People who are answered: everyone, or only owners and members. Default: `anyone`. */
    readonly people?: "anyone" | "members";
    /** True if the agent answers only messages that mention it or reply to it. Default: true. */
    readonly requireMention?: boolean;
    /** Rules for single groups and threads, by id. A thread's rule precedes its channel's rule, setting by setting. */
    readonly rules?: Readonly<Record<string, GroupRule>>;
    /** Maximum number of unanswered messages to remember as context. With 0, they are ignored. Default: 0. */
    readonly historyLimit?: number;
    /** `ignore` never answers other bots, `mentioned` answers those that address the agent. Default: `ignore`. */
    readonly bots?: "ignore" | "mentioned";
  };
}

/** A rule for one group. Absent fields follow the rule of the parent group, if any, then the rule for all groups. */
export interface GroupRule {
  /** `listed` are the people in `allow`. Owners are always answered. */
  readonly people?: "anyone" | "members" | "listed" | undefined;
  /**
   * Ids of people who are answered in the group in addition to `people`. Default: those of the parent group's rule if
   * `people` is absent too, else none.
   */
  readonly allow?: readonly string[] | undefined;
  readonly requireMention?: boolean | undefined;
  /** Additional instructions for the agent. Admission ignores them. */
  readonly prompt?: string | undefined;
}

/** The facts about a message that admission depends on. They do not include names of people and groups. */
export interface AdmissionInput {
  readonly channel: string;
  readonly conversationKind: "direct" | "group" | "channel";
  readonly conversationId: string;
  /** Other ids of the same conversation. */
  readonly otherConversationIds?: readonly string[];
  /** Id of the parent conversation of a thread or forum post that is itself a conversation. */
  readonly parentId?: string | undefined;
  readonly senderId: string;
  readonly senderIsBot?: boolean;
  /** True if our own account sent the message. */
  readonly senderIsSelf?: boolean;
  /** Form of address: a direct message, a mention, a reply to the agent, or none. */
  readonly addressed: "dm" | "mention" | "reply" | "none";
  /**
   * Current role of the gateway token that the client authenticated with, or `none` if the token was revoked. Undefined
   * on channels whose clients do not use gateway tokens.
   */
  readonly tokenRole?: "owner" | "member" | "none" | undefined;
  /** Origin of the text, if the sender only forwards it. */
  readonly forwardedFrom?: string | undefined;
  /** True if the binding of the route names this person or group by id. The operator grants permission that way. */
  readonly bound?: boolean;
}

/** The rule that determined the decision about a message. */
export type AdmissionRule =
  | "owner"
  | "dm_allowed"
  | "dm_bound"
  | "dm_paired"
  | "dm_open"
  | "group_mention"
  | "group_reply"
  | "group_open"
  | "group_bot"
  | "token"
  | "dm_off"
  | "dm_unknown"
  | "dm_not_allowed"
  | "groups_off"
  | "group_not_allowed"
  | "group_sender"
  | "not_addressed"
  | "bot"
  | "bot_loop"
  | "reply_window"
  | "own_message"
  | "token_revoked";

/**
 * The decision about a message. `answer`: with the sender's role. `pair`: send a pairing code to an unknown sender.
 * `keep`: remember the message as context. `ignore`: drop it.
 */
export type AdmissionDecision =
  /** The origin of a forwarded message is its rule. */
  | { readonly kind: "answer"; readonly rule: AdmissionRule | (string & {}); readonly role: Role }
  | { readonly kind: "pair" | "keep" | "ignore"; readonly rule: AdmissionRule };

/** Decides which senders are answered. */
export interface Admission {
  /**
   * Decides about a message.
   *
   * @param approved true if an owner approved the sender's pairing. Default: false
   */
  decide(input: AdmissionInput, approved?: boolean): AdmissionDecision;
  /** Returns true if an approved pairing could change the decision, so that the caller must look it up. */
  needsApproval(input: AdmissionInput): boolean;
}

/**
 * Creates the rules about who may talk to an agent, and when a group message is meant for it. Without rules, only
 * pairing in direct messages is possible.
 *
 * @example
 * ```ts
 * const admission = createAdmission({ owners: ["telegram:42"], groups: { allow: ["telegram:-100"] } });
 * const decision = admission.decide({
 *   channel: "telegram",
 *   conversationKind: "direct",
 *   conversationId: "42",
 *   senderId: "42",
 *   addressed: "dm",
 * });
 * // { kind: "answer", rule: "owner", role: "owner" }
 * ```
 */
export function createAdmission(rules: AccessRules = {}): Admission {
  const { dm = "pairing", groups: groupRules = {} } = rules;
  const owners = new Set(rules.owners);
  const people = new Set(rules.allow);
  const groups = new Set(groupRules.allow);

  const direct = (input: AdmissionInput, approved: boolean): AdmissionDecision => {
    const sender = `${input.channel}:${input.senderId}`;
    if (owners.has(sender)) return { kind: "answer", rule: "owner", role: "owner" };
    if (dm === "off") return { kind: "ignore", rule: "dm_off" };
    if (people.has(sender)) return { kind: "answer", rule: "dm_allowed", role: "member" };
    if (input.bound) return { kind: "answer", rule: "dm_bound", role: "member" };
    if (approved) return { kind: "answer", rule: "dm_paired", role: "member" };
    // With `open`, the operator permits everyone to use the agent, so unknown senders are members.
    if (dm === "open") return { kind: "answer", rule: "dm_open", role: "member" };
    return dm === "pairing"
      ? { kind: "pair", rule: "dm_unknown" }
      : { kind: "ignore", rule: "dm_not_allowed" };
  };

  const group = (input: AdmissionInput): AdmissionDecision => {
    const { mode = "allowlist", historyLimit = 0, bots = "ignore" } = groupRules;
    const ids = getGroupIds(input);
    const isListed = ids.some((id) => groups.has(id));
    const rule = findGroupRule(groupRules.rules ?? {}, ids);
    const admitted = rule.people ?? groupRules.people ?? "anyone";
    const requireMention = rule.requireMention ?? groupRules.requireMention ?? true;
    const sender = `${input.channel}:${input.senderId}`;
    const role = owners.has(sender) ? "owner" : people.has(sender) ? "member" : "guest";
    if (mode === "off") return { kind: "ignore", rule: "groups_off" };
    if (mode === "allowlist" && !input.bound && !isListed)
      return { kind: "ignore", rule: "group_not_allowed" };
    const unanswered = historyLimit > 0 ? "keep" : "ignore";
    const maySpeak =
      role === "owner" ||
      admitted === "anyone" ||
      (admitted === "members" && role === "member") ||
      (rule.allow ?? []).includes(sender);
    if (input.senderIsBot) {
      // Bots get no answer, but their messages, such as alerts, are useful context for people's questions.
      return bots === "mentioned" && input.addressed !== "none" && maySpeak
        ? { kind: "answer", rule: "group_bot", role: "guest" }
        : { kind: unanswered, rule: "bot" };
    }
    if (requireMention && input.addressed === "none") return { kind: unanswered, rule: "not_addressed" };
    if (!maySpeak) return { kind: unanswered, rule: "group_sender" };
    return { kind: "answer", rule: getGroupRule(requireMention, input), role };
  };

  return {
    needsApproval: (input) =>
      input.tokenRole === undefined && input.conversationKind === "direct" && dm === "pairing",
    decide(input, approved = false) {
      if (input.tokenRole !== undefined) return decideByToken(input.tokenRole, input);
      if (input.senderIsSelf) return { kind: "ignore", rule: "own_message" };
      if (input.conversationKind !== "direct") return group(input);
      // Two bots that answer each other would never stop.
      if (input.senderIsBot) return { kind: "ignore", rule: "bot" };
      return direct(input, approved);
    },
  };
}

/** Returns the ids of a group as `channel:id`: its own, its other ones, then that of its parent. */
export function getGroupIds({
  channel,
  conversationId,
  otherConversationIds = [],
  parentId,
}: Pick<AdmissionInput, "channel" | "conversationId" | "otherConversationIds" | "parentId">): string[] {
  const ids = [conversationId, ...otherConversationIds, ...(parentId === undefined ? [] : [parentId])];
  return ids.map((id) => `${channel}:${id}`);
}

/**
 * Combines the rules of a group and its parent. Each setting comes from the first id whose rule has it. `allow` comes
 * from no rule after the one with `people`, because the list adds to these people.
 *
 * @param ids as `getGroupIds` returns them
 */
export function findGroupRule(rules: Readonly<Record<string, GroupRule>>, ids: readonly string[]): GroupRule {
  const found = ids.flatMap((id) => (Object.hasOwn(rules, id) ? (rules[id] ?? []) : []));
  const withPeople = found.findIndex(({ people }) => people !== undefined);
  const lists = withPeople === -1 ? found : found.slice(0, withPeople + 1);
  return {
    people: found[withPeople]?.people,
    allow: lists.find(({ allow }) => allow !== undefined)?.allow,
    requireMention: found.find(({ requireMention }) => requireMention !== undefined)?.requireMention,
    prompt: found.find(({ prompt }) => prompt !== undefined)?.prompt,
  };
}

function getGroupRule(requireMention: boolean, { addressed }: AdmissionInput): AdmissionRule {
  if (!requireMention) return "group_open";
  return addressed === "reply" ? "group_reply" : "group_mention";
}

/**
 * Decides based on the role of a gateway token. Forwarded text was not written by the token's holder, so it never gets
 * the owner role.
 */
function decideByToken(
  role: NonNullable<AdmissionInput["tokenRole"]>,
  { forwardedFrom }: AdmissionInput,
): AdmissionDecision {
  if (role === "none") return { kind: "ignore", rule: "token_revoked" };
  return forwardedFrom === undefined
    ? { kind: "answer", rule: "token", role }
    : { kind: "answer", rule: forwardedFrom, role: "member" };
}
