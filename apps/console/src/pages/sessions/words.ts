import { pageWords } from "../../words/words.tsx";

const en = {
  description: "The conversations of all channels, and what the agents did in them.",
  search: "Search sessions",
  none: "No sessions yet",
  noneYet: "A session starts with the first message that an agent answers.",
  noneMatch: "No matching sessions",
  tryOther: "Try another word.",
  totals: (sessions: string, tokens: string, cost: string) =>
    `${sessions} ${sessions === "1" ? "session" : "sessions"} · ${tokens} tokens · cost ${cost}`,
  session: "Session",
  via: "Channel",
  agent: "Agent",
  person: "Person",
  messages: "Messages",
  tokens: "Tokens",
  cost: "Cost",
  updated: "Updated",
  working: "working",
  kinds: { direct: "direct", group: "group" } as Readonly<Record<string, string>>,
};

const zh: typeof en = {
  description: "所有渠道里的对话，以及智能体在其中做了什么。",
  search: "搜索会话",
  none: "还没有会话",
  noneYet: "智能体回答第一条消息时，会话就开始了。",
  noneMatch: "没有匹配的会话",
  tryOther: "换个关键词试试。",
  totals: (sessions, tokens, cost) => `共 ${sessions} 个会话 · ${tokens} 词元 · 费用 ${cost}`,
  session: "会话",
  via: "渠道",
  agent: "智能体",
  person: "人员",
  messages: "消息",
  tokens: "词元",
  cost: "费用",
  updated: "更新时间",
  working: "进行中",
  kinds: { direct: "私聊", group: "群聊" },
};

export const useSessionsWords = pageWords({ en, zh });
