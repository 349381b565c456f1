/** Test data for the owners' pages, with hostile text in every field that a stranger can control. */
import type {
  Activity,
  ApprovalInfo,
  CommandInfo,
  ConversationHistory,
  DecidedApproval,
  MessageInfo,
  ModelList,
  PairingList,
  SessionInfo,
  Status,
  Usage,
  UsageSeries,
  Why,
} from "@signalbox/protocol";
import { HOSTILE } from "../replies.ts";
import { Refusal, type Routes } from "../routes.ts";

/** Data for requests of owners. */
export interface OwnersView {
  sessions: SessionInfo[];
  messages: MessageInfo[];
  why: Why | undefined;
  approvals: ApprovalInfo[];
  pairings: PairingList;
  status: Status | undefined;
  activity: Activity;
  usage: Usage;
  series: UsageSeries;
  transcript: ConversationHistory;
  history: DecidedApproval[];
  models: ModelList;
  commands: CommandInfo[];
}

const AT = 1_700_000_000_000;
const KEY = "agent:coder:feishu:direct:ou_zhang";

const TOKENS = { inputTokens: 34_000, outputTokens: 567, cacheReadTokens: 0, cacheWriteTokens: 0 };

const asked: MessageInfo = {
  id: "01KABC",
  messageId: "om_1",
  at: AT,
  channel: "feishu",
  account: "main",
  conversation: "oc_1",
  sender: "ou_zhang",
  senderName: "张三",
  text: "把昨天的会议纪要整理成表格",
  state: "failed-reported",
  agent: "coder",
  sessionKey: KEY,
  rule: "auth",
};

const stranger: MessageInfo = {
  id: "01KABD",
  at: AT - 60_000,
  channel: "telegram",
  account: "bot",
  conversation: "77",
  sender: HOSTILE,
  text: HOSTILE,
  state: "ignored",
  rule: "dm_unknown",
};

export const APPROVAL: ApprovalInfo = {
  id: "ABCD2345",
  agent: "coder",
  sessionKey: KEY,
  tool: "exec",
  expiresAt: AT + 600_000,
  reason: "A message of somebody else is why this runs.",
  action: `rm -rf build && echo ${HOSTILE}`,
  binary: "/usr/bin/rm",
  cwd: "/home/me/project",
  env: { PATH: "/usr/bin" },
  files: [{ path: "build/run.sh", sha256: "a".repeat(64) }],
  domains: ["registry.npmjs.org"],
};

const full: OwnersView = {
  sessions: [
    {
      key: KEY,
      agent: "coder",
      channel: "feishu",
      account: "main",
      peer: "ou_zhang",
      kind: "direct",
      title: "会议纪要",
      updatedAt: AT,
      messages: 12,
      tokens: 34_567,
      costMicros: 123_400,
      busy: true,
    },
    {
      key: "agent:coder:telegram:group:-100",
      agent: "coder",
      channel: "telegram",
      account: "bot",
      peer: "-100",
      kind: "group",
      title: HOSTILE,
      updatedAt: AT - 90_000,
      messages: 2,
      tokens: 10,
      costMicros: 0,
      busy: false,
    },
  ],
  messages: [asked, stranger],
  why: {
    trace: {
      messageId: asked.id,
      message: asked,
      entries: [
        { at: AT + 2, stage: "intake", summary: "feishu/main direct 张三 accepted" },
        { at: AT + 5, stage: "routing", summary: "agent coder by binding 1", data: { tiers: [HOSTILE] } },
        { at: AT + 6, stage: "gate", summary: "allowed: dm_paired" },
        { at: AT + 40, stage: "prompt", summary: "12 sections, 3,400 tokens" },
        { at: AT + 1_240, stage: "model", summary: `anthropic/claude failed (auth): ${HOSTILE}` },
        { at: AT + 1_260, stage: "reply", summary: "failed-reported: 61 characters" },
      ],
    },
    sentence: "It could not be answered by agent coder: the model's provider refused the key (auth).",
    said: `anthropic/claude failed (auth): ${HOSTILE}`,
    remedy: "Set a key that works: `signalbox init`, or models.providers.<name>.apiKey.",
  },
  approvals: [APPROVAL],
  pairings: {
    pending: [{ channel: "telegram", account: "bot", peer: "77", label: HOSTILE, expiresAt: AT + 600_000 }],
    paired: [
      {
        channel: "feishu",
        account: "main",
        peer: "ou_zhang",
        label: "张三",
        approvedAt: AT,
        approvedBy: "command line",
      },
    ],
    owners: [{ entry: "telegram:5001", label: HOSTILE }],
    allowed: [{ entry: `feishu:${HOSTILE}` }],
  },
  status: {
    version: "0.1.0",
    demo: false,
    startedAt: AT,
    configuration: { forStart: ["gateway.port"], kept: ["agents"], errors: [] },
    inboxPending: 1,
    outboxPending: 2,
    agents: [{ id: "coder", name: "代码助手", model: "anthropic/claude-sonnet-4-6", demo: false }],
    channels: [
      { channel: "feishu", account: "main", state: "ready" },
      { channel: "telegram", account: "bot", state: "down", reason: "401 Unauthorized: the token is wrong" },
    ],
  },
  activity: {
    runs: [
      {
        runId: "run-1",
        sessionKey: KEY,
        agent: "coder",
        startedAt: AT,
        calls: [
          { id: "t1", name: "read", state: "done", args: '{"path":"minutes.md"}', durationMs: 12 },
          { id: "t2", name: "exec", state: "running", args: `{"command":"make ${HOSTILE}"}` },
        ],
      },
    ],
    waiting: [{ ...asked, id: "01KABE", state: "queued", text: "还有上周的" }],
    commands: [{ id: "p1", sessionKey: KEY, command: `npm run watch ${HOSTILE}`, startedAt: AT }],
    schedules: [
      {
        id: "c1",
        agent: "coder",
        when: "every day at 09:00",
        nextAt: AT + 3_600_000,
        missed: "once",
        text: `Read the news ${HOSTILE}`,
      },
    ],
  },
  usage: {
    groups: [
      { name: "2026-11-20", runs: 3, modelCalls: 4, ...TOKENS, costMicros: 41_000 },
      { name: "2026-11-21", runs: 12, modelCalls: 30, ...TOKENS, costMicros: 1_234_500 },
      { name: HOSTILE, runs: 1, modelCalls: 1, ...TOKENS, costMicros: 0 },
    ],
    budgets: [
      {
        budget: "each sender, $2.00 a day",
        of: "sender",
        per: "day",
        limit: 2_000_000,
        account: "sender feishu:ou_zhang",
        unit: "micros",
        spent: 1_234_500,
        reserved: 0,
        allowed: 2_000_000,
        left: 765_500,
        until: AT + 3_600_000,
      },
    ],
  },
  series: {
    points: [
      { day: "2026-11-20", name: "coder", runs: 3, modelCalls: 4, ...TOKENS, costMicros: 41_000 },
      { day: "2026-11-21", name: "coder", runs: 9, modelCalls: 21, ...TOKENS, costMicros: 834_500 },
      { day: "2026-11-21", name: HOSTILE, runs: 3, modelCalls: 9, ...TOKENS, costMicros: 400_000 },
    ],
  },
  transcript: {
    messages: [
      { id: "om_1", role: "user", text: "把昨天的会议纪要整理成表格", sender: "张三", at: AT, runId: "r1" },
      {
        id: "2",
        role: "tool",
        text: "1. 预算\n2. 招聘",
        at: AT + 900,
        runId: "r1",
        call: { id: "t1", name: "read", args: { path: "minutes.md" }, isError: false, durationMs: 12 },
      },
      {
        id: "3",
        role: "assistant",
        text: "| 议题 | 结论 |\n| --- | --- |\n| 预算 | 通过 |",
        at: AT + 2_000,
        runId: "r1",
      },
      { id: "om_2", role: "user", text: HOSTILE, sender: HOSTILE, at: AT + 9_000, runId: "r2" },
      { id: "4", role: "assistant", text: HOSTILE, at: AT + 9_900, runId: "r2" },
    ],
    ends: [{ runId: "r1", outcome: "replied" }],
  },
  history: [
    {
      ...APPROVAL,
      id: "DONE2345",
      action: `git push ${HOSTILE}`,
      state: "denied",
      createdAt: AT,
      decidedAt: AT + 5_000,
      approver: "telegram:5001",
    },
    { ...APPROVAL, id: "USED2345", action: "ls -la", state: "used", createdAt: AT, decidedAt: AT + 5_000 },
  ],
  models: {
    providers: ["anthropic", "openai"],
    models: [
      {
        model: "anthropic/claude-sonnet-4-6",
        contextWindow: 1_000_000,
        maxOutputTokens: 64_000,
        inputPrice: 3_000_000,
        outputPrice: 15_000_000,
      },
      { model: "openai/gpt-5.2", contextWindow: 400_000, maxOutputTokens: 128_000 },
    ],
  },
  commands: [
    { name: "help", description: "List the commands" },
    { name: "model", description: "Show or choose the model", usage: "[name | default]" },
    { name: "new", description: "Start a new session" },
  ],
};

const empty: OwnersView = {
  sessions: [],
  messages: [],
  why: undefined,
  approvals: [],
  status: undefined,
  pairings: { pending: [], paired: [], owners: [], allowed: [] },
  activity: { runs: [], waiting: [], commands: [], schedules: [] },
  usage: { groups: [], budgets: [] },
  series: { points: [] },
  transcript: { messages: [], ends: [] },
  history: [],
  models: { providers: [], models: [] },
  commands: [],
};

export const OWNERS: Readonly<Record<"full" | "empty", OwnersView>> = { full, empty };

/** The routes of the owners' pages. Changes are applied to the data. */
export function ownerRoutes(view: () => OwnersView): Routes {
  return {
    "GET /api/sessions": () => ({ sessions: view().sessions }),
    "GET /api/sessions/transcript": ({ url }) =>
      url.searchParams.get("session") === KEY ? view().transcript : undefined,
    "GET /api/messages": ({ url: { searchParams: query } }) => {
      const limit = Number(query.get("limit") ?? 100);
      const start = Number(query.get("before") ?? 0);
      const text = query.get("text") ?? "";
      const found = view().messages.filter(
        ({ sessionKey, channel, agent, state, ...message }) =>
          [null, sessionKey].includes(query.get("session")) &&
          [null, channel].includes(query.get("channel")) &&
          [null, agent].includes(query.get("agent")) &&
          (query.get("outcome") !== "failed" || state.includes("reported")) &&
          `${message.text} ${message.senderName}`.includes(text),
      );
      const messages = found.slice(start, start + limit);
      return { messages, ...(start + limit < found.length && { next: String(start + limit) }) };
    },
    "GET /api/why/*": ({ params: [id] }) => (id === view().why?.trace.messageId ? view().why : undefined),
    "GET /api/status": () => view().status,
    "GET /api/usage": () => view().usage,
    "GET /api/usage/series": () => view().series,
    "GET /api/approvals/history": () => ({ approvals: view().history }),
    "GET /api/models": () => view().models,
    "GET /api/commands": () => ({ commands: view().commands }),
    "GET /api/approvals": () => ({ approvals: view().approvals }),
    "POST /api/approvals/*": ({ params: [id] }) => {
      const isOpen = view().approvals.some((each) => each.id === id);
      view().approvals = view().approvals.filter((each) => each.id !== id);
      if (!isOpen) throw new Refusal(404, "not_found", "There is no such thing.");
    },
    "GET /api/pairings": () => view().pairings,
    "POST /api/pairings/approve": ({ body }) => {
      const { code } = body as { code: string };
      const { pending, paired, ...named } = view().pairings;
      const [request] = code === "GOODCODE" ? pending : [];
      if (request === undefined) throw new Refusal(404, "not_found", "There is no such thing.");
      const { expiresAt: _, ...person } = request;
      const approved = { ...person, approvedAt: AT, approvedBy: "token owner" };
      view().pairings = {
        ...named,
        pending: pending.filter((each) => each !== request),
        paired: [...paired, approved],
      };
      return approved;
    },
    "POST /api/pairings/revoke": ({ body }) => {
      const { peer } = body as { peer: string };
      const { pending, paired, ...named } = view().pairings;
      view().pairings = { ...named, pending, paired: paired.filter((each) => each.peer !== peer) };
    },
  };
}
