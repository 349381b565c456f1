/** Who may talk to an agent. People and places are written `channel:id`. */
export interface AccessRules {
  readonly owners: readonly string[];
  readonly allow: readonly string[];
  /** Direct messages of everybody else. */
  readonly dm: "pairing" | "allowlist" | "open" | "off";
  readonly groups: {
    readonly mode: "allowlist" | "open" | "off";
    readonly allow: readonly string[];
    readonly requireMention: boolean;
    /** Messages to remember that are not for the agent. */
    readonly historyLimit: number;
    readonly bots: "ignore" | "mentioned";
  };
}

/** What the gate looks at. Names never count, only the platform's ids. */
export interface GateInput {
  readonly channel: string;
  readonly conversationKind: "direct" | "group" | "channel";
  readonly conversationId: string;
  /** Other ids of the same conversation. */
  readonly otherConversationIds: readonly string[];
  /** The place that a thread or a forum's post belongs to, where that is a conversation of its own. */
  readonly parentId: string | undefined;
  readonly senderId: string;
  readonly senderIsBot: boolean;
  readonly senderIsSelf: boolean;
  readonly addressed: "dm" | "mention" | "reply" | "none";
  /**
   * For channels whose clients have presented a token of the gateway: the token's current role, `none` if it was
   * revoked. Undefined on every other channel.
   */
  readonly tokenRole: "owner" | "member" | "none" | undefined;
  /** Where the text comes from, if it is not the sender's own. */
  readonly forwardedFrom: string | undefined;
  /**
   * The binding that decided the route names this person or this group by its id: who wrote that has said that they
   * may talk, there and under the binding's other conditions.
   */
  readonly bound: boolean;
}

/** By which rule the gate decides about a message. */
export type GateRule =
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
  | "not_addressed"
  | "bot"
  | "bot_loop"
  | "own_message"
  | "token_revoked";

/**
 * What a sender may do; `guest` is anyone else who may be answered. `system` is the host by itself, which passes no
 * gate: it has fewer rights than an owner, because no owner is present.
 */
export type Role = "owner" | "member" | "guest" | "system";

/** `answer` with the speaker's role; `pair` gives a stranger a code; `keep` remembers for later; `ignore` drops. */
export type GateDecision =
  /** For a forwarded message, the rule names its origin. */
  | { readonly kind: "answer"; readonly rule: GateRule | (string & {}); readonly role: Role }
  | { readonly kind: "pair" | "keep" | "ignore"; readonly rule: GateRule };

export interface Gate {
  decide(input: GateInput, approved: boolean): GateDecision;
  /** Whether an approval could change the decision, so that it must be looked up. */
  needsApproval(input: GateInput): boolean;
}

/** Who may talk to an agent, and when a group message is meant for it. Empty or unknown denies. */
export function createGate(access: AccessRules): Gate {
  const owners = new Set(access.owners);
  const people = new Set(access.allow);
  const groups = new Set(access.groups.allow);

  const direct = (input: GateInput, approved: boolean): GateDecision => {
    const sender = `${input.channel}:${input.senderId}`;
    if (owners.has(sender)) return { kind: "answer", rule: "owner", role: "owner" };
    if (access.dm === "off") return { kind: "ignore", rule: "dm_off" };
    if (people.has(sender)) return { kind: "answer", rule: "dm_allowed", role: "member" };
    if (input.bound) return { kind: "answer", rule: "dm_bound", role: "member" };
    if (approved) return { kind: "answer", rule: "dm_paired", role: "member" };
    // Opening direct messages to everybody is the operator's word that everybody may use the agent.
    if (access.dm === "open") return { kind: "answer", rule: "dm_open", role: "member" };
    return access.dm === "pairing"
      ? { kind: "pair", rule: "dm_unknown" }
      : { kind: "ignore", rule: "dm_not_allowed" };
  };

  const group = (input: GateInput): GateDecision => {
    const { mode, requireMention, historyLimit, bots } = access.groups;
    const { conversationId, otherConversationIds, parentId } = input;
    const places = [conversationId, ...otherConversationIds, ...(parentId === undefined ? [] : [parentId])];
    const isListed = places.some((id) => groups.has(`${input.channel}:${id}`));
    if (mode === "off") return { kind: "ignore", rule: "groups_off" };
    if (mode === "allowlist" && !input.bound && !isListed)
      return { kind: "ignore", rule: "group_not_allowed" };
    const unanswered = historyLimit > 0 ? "keep" : "ignore";
    if (input.senderIsBot) {
      // People ask about what bots write, such as alerts, even if bots themselves get no answer.
      return bots === "mentioned" && input.addressed !== "none"
        ? { kind: "answer", rule: "group_bot", role: "guest" }
        : { kind: unanswered, rule: "bot" };
    }
    if (requireMention && input.addressed === "none") return { kind: unanswered, rule: "not_addressed" };
    const sender = `${input.channel}:${input.senderId}`;
    const role = owners.has(sender) ? "owner" : people.has(sender) ? "member" : "guest";
    return { kind: "answer", rule: ruleOfGroup(requireMention, input), role };
  };

  return {
    needsApproval: (input) =>
      input.tokenRole === undefined && input.conversationKind === "direct" && access.dm === "pairing",
    decide(input, approved) {
      if (input.tokenRole !== undefined) return holderOfToken(input.tokenRole, input);
      if (input.senderIsSelf) return { kind: "ignore", rule: "own_message" };
      if (input.conversationKind !== "direct") return group(input);
      // Two bots that answer each other never stop.
      if (input.senderIsBot) return { kind: "ignore", rule: "bot" };
      return direct(input, approved);
    },
  };
}

function ruleOfGroup(requireMention: boolean, { addressed }: GateInput): GateRule {
  if (!requireMention) return "group_open";
  return addressed === "reply" ? "group_reply" : "group_mention";
}

/** The holder of a token has the token's role; text they merely forward orders nothing. */
function holderOfToken(
  role: NonNullable<GateInput["tokenRole"]>,
  { forwardedFrom }: GateInput,
): GateDecision {
  if (role === "none") return { kind: "ignore", rule: "token_revoked" };
  return forwardedFrom === undefined
    ? { kind: "answer", rule: "token", role }
    : { kind: "answer", rule: forwardedFrom, role: "member" };
}
