import { pageWords } from "../../words/words.tsx";

const en = {
  description: "Every message that reached the gateway, and what became of it.",
  none: "No messages yet",
  noneYet: "Messages appear here as soon as somebody writes to an agent.",
  noneMatch: "No matching messages",
  tryOther: "Change the search or the filters.",
  showAll: "Show all messages",
  search: "Search messages and people",
  outcome: "State",
  channel: "Channel",
  agent: "Agent",
  any: "All",
  outcomes: {
    open: "waiting or in progress",
    answered: "answered",
    unanswered: "not answered",
    failed: "failed or expired",
  },
  ofSession: "Session:",
  message: "Message",
  from: "From",
  state: "State",
  time: "Time",
  withoutText: "(no text)",
  shown: (count: string) => `${count} shown`,
};

const zh: typeof en = {
  description: "网关收到的每一条消息，以及处理结果。",
  none: "还没有消息",
  noneYet: "有人给智能体发消息后，会显示在这里。",
  noneMatch: "没有匹配的消息",
  tryOther: "换个关键词或筛选条件试试。",
  showAll: "显示全部消息",
  search: "搜索消息和人员",
  outcome: "状态",
  channel: "渠道",
  agent: "智能体",
  any: "全部",
  outcomes: {
    open: "等待或处理中",
    answered: "已回答",
    unanswered: "未回答",
    failed: "失败或过期",
  },
  ofSession: "会话：",
  message: "消息",
  from: "发送者",
  state: "状态",
  time: "时间",
  withoutText: "（没有文字）",
  shown: (count) => `已显示 ${count} 条`,
};

export const useMessagesWords = pageWords({ en, zh });
