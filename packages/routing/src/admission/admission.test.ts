import { describe, expect, it } from "vitest";
import {
  type AccessRules,
  type Admission,
  type AdmissionInput,
  createAdmission,
  findGroupRule,
  type GroupRule,
} from "../index.ts";

type Settings = AccessRules;

function createTestAdmission(settings: Settings = {}): Admission {
  return createAdmission({ ...settings, groups: { historyLimit: 20, ...settings.groups } });
}

const DIRECT: AdmissionInput = {
  channel: "feishu",
  conversationKind: "direct",
  conversationId: "oc_1",
  senderId: "ou_1",
  addressed: "dm",
};
const GROUP: AdmissionInput = {
  ...DIRECT,
  conversationKind: "group",
  conversationId: "oc_team",
  addressed: "mention",
};

describe("defaults", () => {
  it("answer nobody without an approved pairing", () => {
    const admission = createAdmission();
    expect(admission.needsApproval(DIRECT)).toBe(true);
    expect(admission.decide(DIRECT)).toEqual({ kind: "pair", rule: "dm_unknown" });
    expect(admission.decide(GROUP)).toEqual({ kind: "ignore", rule: "group_not_allowed" });
    expect(admission.decide({ ...GROUP, bound: true, senderIsBot: true })).toEqual({
      kind: "ignore",
      rule: "bot",
    });
  });

  it("require a mention in listed groups, and remember nothing", () => {
    const admission = createAdmission({ groups: { allow: ["feishu:oc_team"] } });
    expect(admission.decide(GROUP)).toMatchObject({ kind: "answer", role: "guest" });
    expect(admission.decide({ ...GROUP, addressed: "none" })).toEqual({
      kind: "ignore",
      rule: "not_addressed",
    });
  });
});

describe("people in groups", () => {
  const answers = (settings: Settings, input: Partial<AdmissionInput> = {}): string => {
    const groups = { mode: "open", ...settings.groups } as const;
    const decision = createTestAdmission({ ...settings, groups }).decide({ ...GROUP, ...input });
    return decision.kind === "answer" ? decision.role : `${decision.kind} ${decision.rule}`;
  };
  const rule = (one: GroupRule): Settings => ({ groups: { rules: { "feishu:oc_team": one } } });

  it("answers only owners and members with `people: members`", () => {
    const groups = { people: "members" } as const;
    expect(answers({ groups })).toBe("keep group_sender");
    expect(answers({ groups, allow: ["feishu:ou_1"] })).toBe("member");
    expect(answers({ groups, owners: ["feishu:ou_1"] })).toBe("owner");
    expect(answers({ groups, allow: ["discord:ou_1"] })).toBe("keep group_sender");
    expect(answers({ groups: { ...groups, historyLimit: 0 } })).toBe("ignore group_sender");
  });

  it("answers people listed in a group's rule without changing their role", () => {
    const listed = rule({ people: "listed", allow: ["feishu:ou_1"] });
    expect(answers(listed)).toBe("guest");
    expect(answers(listed, { senderId: "ou_2" })).toBe("keep group_sender");
    expect(answers({ ...listed, allow: ["feishu:ou_2"] }, { senderId: "ou_2" })).toBe("keep group_sender");
    expect(answers({ ...listed, owners: ["feishu:ou_2"] }, { senderId: "ou_2" })).toBe("owner");
    expect(answers(rule({ people: "members", allow: ["feishu:ou_1"] }))).toBe("guest");
  });

  it("follows a group's rule in its threads, and the general rule elsewhere", () => {
    const settings: Settings = {
      groups: { people: "members", rules: { "feishu:oc_team": { people: "anyone", requireMention: false } } },
    };
    expect(answers(settings, { addressed: "none" })).toBe("guest");
    expect(answers(settings, { conversationId: "oc_thread", parentId: "oc_team" })).toBe("guest");
    expect(answers(settings, { conversationId: "new", otherConversationIds: ["oc_team"] })).toBe("guest");
    expect(answers(settings, { conversationId: "oc_other" })).toBe("keep group_sender");
    expect(answers(settings, { channel: "discord" })).toBe("keep group_sender");
  });

  it("takes each setting that a thread's rule lacks from the rule of its channel", () => {
    const inThread = (channel: GroupRule, thread: GroupRule, input: Partial<AdmissionInput> = {}): string =>
      answers(
        { groups: { rules: { "feishu:oc_team": channel, "feishu:oc_thread": thread } } },
        { conversationId: "oc_thread", parentId: "oc_team", ...input },
      );
    const closed: GroupRule = { people: "listed", allow: ["feishu:ou_1"], requireMention: false };
    const stranger = { senderId: "ou_2" };
    expect(inThread(closed, { prompt: "Be brief." }, { addressed: "none" })).toBe("guest");
    expect(inThread(closed, { prompt: "Be brief." }, stranger)).toBe("keep group_sender");
    expect(inThread(closed, { requireMention: true }, { addressed: "none" })).toBe("keep not_addressed");
    expect(inThread(closed, { allow: ["feishu:ou_2"] }, stranger)).toBe("guest");
    expect(inThread(closed, { allow: ["feishu:ou_2"] })).toBe("keep group_sender");
    expect(inThread(closed, { people: "anyone" }, stranger)).toBe("guest");
  });

  it("adds no people of the channel's rule to a thread whose rule has `people`", () => {
    const rules = {
      "feishu:oc_team": { people: "anyone", allow: ["feishu:ou_1"] },
      "feishu:oc_thread": { people: "listed" },
    } as const;
    const thread = { conversationId: "oc_thread", parentId: "oc_team" };
    expect(answers({ groups: { rules } }, thread)).toBe("keep group_sender");
  });

  it("finds the instructions of the channel for a thread whose rule has none", () => {
    const rules = {
      "feishu:oc_team": { prompt: "Be brief." },
      "feishu:oc_thread": { people: "listed" },
    } as const;
    expect(findGroupRule(rules, ["feishu:oc_thread", "feishu:oc_team"]).prompt).toBe("Be brief.");
    expect(findGroupRule(rules, ["feishu:oc_other"]).prompt).toBeUndefined();
  });

  it("does not admit a group by its rule", () => {
    expect(
      answers({ groups: { mode: "allowlist", rules: { "feishu:oc_team": { people: "anyone" } } } }),
    ).toBe("ignore group_not_allowed");
  });

  it("answers a bot only if the people rule admits it", () => {
    const bots = { senderIsBot: true };
    expect(answers({ groups: { bots: "mentioned" } }, bots)).toBe("guest");
    expect(answers({ groups: { bots: "mentioned", people: "members" } }, bots)).toBe("keep bot");
    expect(answers({ groups: { bots: "mentioned", people: "members" }, allow: ["feishu:ou_1"] }, bots)).toBe(
      "guest",
    );
  });
});

describe("gateway tokens", () => {
  it("grant the token's role until the token is revoked", () => {
    const one = createTestAdmission({ owners: ["feishu:ou_1"], dm: "open" });
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
  it("asks unknown senders to pair, and answers them after the approval", () => {
    const one = createTestAdmission();
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
    expect(createTestAdmission(settings).decide(DIRECT, false)).toEqual(expected);
  });

  it("answers a person whom a binding names, unless direct messages are off", () => {
    expect(createTestAdmission().decide({ ...DIRECT, bound: true }, false)).toEqual({
      kind: "answer",
      rule: "dm_bound",
      role: "member",
    });
    expect(createTestAdmission({ dm: "off" }).decide({ ...DIRECT, bound: true }, false)).toMatchObject({
      kind: "ignore",
    });
  });

  it("ignores bots and its own messages", () => {
    const open = createTestAdmission({ dm: "open" });
    expect(open.decide({ ...DIRECT, senderIsBot: true }, false)).toEqual({ kind: "ignore", rule: "bot" });
    expect(open.decide({ ...DIRECT, senderIsSelf: true }, false)).toEqual({
      kind: "ignore",
      rule: "own_message",
    });
  });
});

describe("groups", () => {
  const TEAM = { groups: { allow: ["feishu:oc_team"] } };

  it("answers only in listed groups, and only if addressed", () => {
    const one = createTestAdmission(TEAM);
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

  it("answers bots that address the agent as guests with `bots: mentioned`", () => {
    const one = createTestAdmission({ owners: ["feishu:ou_1"], groups: { mode: "open", bots: "mentioned" } });
    const bot = { ...GROUP, senderIsBot: true };
    expect(one.decide(bot, false)).toEqual({ kind: "answer", rule: "group_bot", role: "guest" });
    expect(one.decide({ ...bot, addressed: "none" }, false)).toEqual({ kind: "keep", rule: "bot" });
    expect(one.decide({ ...bot, senderIsSelf: true }, false)).toMatchObject({ kind: "ignore" });
    expect(one.decide({ ...DIRECT, senderIsBot: true }, false)).toEqual({ kind: "ignore", rule: "bot" });
  });

  it("answers in threads of a listed group", () => {
    const thread = { ...GROUP, conversationId: "oc_thread" };
    expect(createTestAdmission(TEAM).decide({ ...thread, parentId: "oc_team" }, false)).toMatchObject({
      kind: "answer",
    });
    expect(createTestAdmission(TEAM).decide({ ...thread, parentId: "oc_other" }, false)).toMatchObject({
      kind: "ignore",
    });
  });

  it("recognizes a listed group by any of its ids", () => {
    const moved = { ...GROUP, conversationId: "oc_first", otherConversationIds: ["oc_team"] };
    expect(createTestAdmission(TEAM).decide(moved, false)).toMatchObject({ kind: "answer" });
  });

  it("answers in a group that a binding names, with its members as guests", () => {
    const bound = { ...GROUP, bound: true };
    expect(createTestAdmission().decide(bound, false)).toMatchObject({ kind: "answer", role: "guest" });
    expect(createTestAdmission({ groups: { mode: "off" } }).decide(bound, false)).toMatchObject({
      kind: "ignore",
    });
  });

  it("does not extend a pairing for direct messages to groups", () => {
    expect(createTestAdmission().decide(GROUP, true)).toEqual({ kind: "ignore", rule: "group_not_allowed" });
  });

  it("recognizes members and owners by id", () => {
    const one = createTestAdmission({
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

  it("ignores messages if groups are off, or if no history is remembered", () => {
    expect(createTestAdmission({ groups: { mode: "off" } }).decide(GROUP, false)).toMatchObject({
      rule: "groups_off",
    });
    const forgetful = createTestAdmission({ groups: { mode: "open", historyLimit: 0 } });
    expect(forgetful.decide({ ...GROUP, addressed: "none" }, false)).toMatchObject({ kind: "ignore" });
    expect(forgetful.decide({ ...GROUP, senderIsBot: true }, false)).toMatchObject({ kind: "ignore" });
  });
});
