import { pageWords } from "../../words/words.tsx";

const en = {
  none: "No messages",
  noneYet: "The messages of this session have been deleted, or the session was reset.",
  messages: "Messages",
  tokens: "Tokens",
  cost: "Cost",
  updated: "Last active",
  agent: "Agent",
  where: "Channel",
  key: "Key",
  transcript: "Transcript",
  earlier: "Load earlier messages",
  outcomes: "Outcome of each message",
  you: "User",
  working: "working",
};

const zh: typeof en = {
  none: "没有消息",
  noneYet: "这个会话的消息已被删除，或者会话已重置。",
  messages: "消息",
  tokens: "词元",
  cost: "费用",
  updated: "最近活动",
  agent: "智能体",
  where: "渠道",
  key: "标识",
  transcript: "对话记录",
  earlier: "加载更早的消息",
  outcomes: "每条消息的处理结果",
  you: "用户",
  working: "进行中",
};

export const useSessionWords = pageWords({ en, zh });
