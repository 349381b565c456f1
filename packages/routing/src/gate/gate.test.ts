import { describe, expect, it } from "vitest";
import { type AccessRules, createGate, type Gate, type GateInput } from "../index.ts";

type Settings = Partial<Omit<AccessRules, "groups">> & { readonly groups?: Partial<AccessRules["groups"]> };

function gate(settings: Settings = {}): Gate {
  const groups = {
    mode: "allowlist",
    allow: [],
    requireMention: true,
    historyLimit: 20,
    bots: "ignore",
  } as const;
  return createGate({
    owners: [],
    allow: [],
    dm: "pairing",
    ...settings,
    groups: { ...groups, ...settings.groups },
  });
}

const DIRECT: GateInput = {
  channel: "feishu",
  conversationKind: "direct",
  conversationId: "oc_1",
  otherConversationIds: [],
  parentId: undefined,
  senderId: "ou_1",
  senderIsBot: false,
  senderIsSelf: false,
  addressed: "dm",
  tokenRole: undefined,
  forwardedFrom: undefined,
  bound: false,
};
const GROUP: GateInput = {
  ...DIRECT,
  conversationKind: "group",
  conversationId: "oc_team",
  addressed: "mention",
};

describe("holders of a token", () => {
  it("are what it says, and nobody once it was revoked", () => {
    const one = gate({ owners: ["feishu:ou_1"], dm: "open" });
    for (const role of ["owner", "member"] as const)
      expect(one.decide({ ...DIRECT, tokenRole: role }, false)).toEqual({
        kind: "answer",
        rule: "token",
        role,
      });
    for (const forwardedFrom of [undefined, "hook:build"])
      expect(one.decide({ ...DIRECT, tokenRole: "none", forwardedFrom }, false)).toEqual({
        kind: "ignore",
        rule: "token_revoked",
      });
  });
});

describe("direct messages", () => {
  it("asks strangers to pair, and answers them once approved", () => {
    const one = gate();
    expect(one.needsApproval(DIRECT)).toBe(true);
    expect(one.decide(DIRECT, false)).toEqual({ kind: "pair", rule: "dm_unknown" });
    expect(one.decide(DIRECT, true)).toEqual({ kind: "answer", rule: "dm_paired", role: "member" });
  });

  it.each<[Settings, object]>([
    [{ dm: "open" }, { kind: "answer", rule: "dm_open", role: "member" }],
    [{ dm: "off" }, { kind: "ignore", rule: "dm_off" }],
    [{ dm: "allowlist" }, { kind: "ignore", rule: "dm_not_allowed" }],
    [
      { dm: "allowlist", allow: ["feishu:ou_1"] },
      { kind: "answer", rule: "dm_allowed", role: "member" },
    ],
    [
      { dm: "allowlist", allow: ["discord:ou_1"] },
      { kind: "ignore", rule: "dm_not_allowed" },
    ],
    [
      { dm: "off", owners: ["feishu:ou_1"] },
      { kind: "answer", rule: "owner", role: "owner" },
    ],
  ])("follows %j", (settings, expected) => {
    expect(gate(settings).decide(DIRECT, false)).toEqual(expected);
  });

  it("takes a binding that names a person as the operator's leave, unless nobody may write", () => {
    expect(gate().decide({ ...DIRECT, bound: true }, false)).toEqual({
      kind: "answer",
      rule: "dm_bound",
      role: "member",
    });
    expect(gate({ dm: "off" }).decide({ ...DIRECT, bound: true }, false)).toMatchObject({
      kind: "ignore",
    });
  });

  it("answers no bot and not itself", () => {
    const open = gate({ dm: "open" });
    expect(open.decide({ ...DIRECT, senderIsBot: true }, false)).toEqual({ kind: "ignore", rule: "bot" });
    expect(open.decide({ ...DIRECT, senderIsSelf: true }, false)).toEqual({
      kind: "ignore",
      rule: "own_message",
    });
  });
});

describe("groups", () => {
  const TEAM = { groups: { allow: ["feishu:oc_team"] } };

  it("answers only where the group is listed and the agent addressed", () => {
    const one = gate(TEAM);
    expect(one.decide(GROUP, false)).toEqual({ kind: "answer", rule: "group_mention", role: "guest" });
    expect(one.decide({ ...GROUP, addressed: "reply" }, false)).toMatchObject({
      kind: "answer",
      rule: "group_reply",
    });
    expect(one.decide({ ...GROUP, addressed: "none" }, false)).toEqual({
      kind: "keep",
      rule: "not_addressed",
    });
    expect(one.decide({ ...GROUP, conversationId: "oc_other" }, false)).toEqual({
      kind: "ignore",
      rule: "group_not_allowed",
    });
    expect(one.decide({ ...GROUP, senderIsBot: true }, false)).toEqual({ kind: "keep", rule: "bot" });
  });

  it("answers bots as guests where they address the agent and the configuration says so", () => {
    const one = gate({ owners: ["feishu:ou_1"], groups: { mode: "open", bots: "mentioned" } });
    const bot = { ...GROUP, senderIsBot: true };
    expect(one.decide(bot, false)).toEqual({ kind: "answer", rule: "group_bot", role: "guest" });
    expect(one.decide({ ...bot, addressed: "none" }, false)).toEqual({ kind: "keep", rule: "bot" });
    expect(one.decide({ ...bot, senderIsSelf: true }, false)).toMatchObject({ kind: "ignore" });
    expect(one.decide({ ...DIRECT, senderIsBot: true }, false)).toEqual({ kind: "ignore", rule: "bot" });
  });

  it("answers in the threads and posts of a listed place", () => {
    const thread = { ...GROUP, conversationId: "oc_thread" };
    expect(gate(TEAM).decide({ ...thread, parentId: "oc_team" }, false)).toMatchObject({ kind: "answer" });
    expect(gate(TEAM).decide({ ...thread, parentId: "oc_other" }, false)).toMatchObject({ kind: "ignore" });
  });

  it("answers in a listed place by any of its ids", () => {
    const moved = { ...GROUP, conversationId: "oc_first", otherConversationIds: ["oc_team"] };
    expect(gate(TEAM).decide(moved, false)).toMatchObject({ kind: "answer" });
  });

  it("takes a binding that names a group as leave for the group, not for who speaks there", () => {
    const bound = { ...GROUP, bound: true };
    expect(gate().decide(bound, false)).toMatchObject({ kind: "answer", role: "guest" });
    expect(gate({ groups: { mode: "off" } }).decide(bound, false)).toMatchObject({ kind: "ignore" });
  });

  it("grants nothing in groups to who is paired for direct messages", () => {
    expect(gate().decide(GROUP, true)).toEqual({ kind: "ignore", rule: "group_not_allowed" });
  });

  it("knows members and owners by id", () => {
    const one = gate({
      allow: ["feishu:ou_1"],
      owners: ["feishu:ou_9"],
      groups: { mode: "open", requireMention: false },
    });
    expect(one.decide({ ...GROUP, addressed: "none" }, false)).toMatchObject({
      kind: "answer",
      role: "member",
    });
    expect(one.decide({ ...GROUP, senderId: "ou_9" }, false)).toMatchObject({ role: "owner" });
    expect(one.decide({ ...GROUP, senderId: "ou_2" }, false)).toMatchObject({ role: "guest" });
  });

  it("can be off, or keep nothing", () => {
    expect(gate({ groups: { mode: "off" } }).decide(GROUP, false)).toMatchObject({
      rule: "groups_off",
    });
    const forgetful = gate({ groups: { mode: "open", historyLimit: 0 } });
    expect(forgetful.decide({ ...GROUP, addressed: "none" }, false)).toMatchObject({ kind: "ignore" });
    expect(forgetful.decide({ ...GROUP, senderIsBot: true }, false)).toMatchObject({ kind: "ignore" });
  });
});
