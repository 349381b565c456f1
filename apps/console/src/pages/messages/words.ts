import { pageWords } from "../../words/words.tsx";

const en = {
  description: "Every message that reached the gateway, and what became of it.",
  none: "No messages yet",
  noneYet: "Messages appear here as soon as somebody writes to an agent.",
  ofSession: "Messages of one session:",
  all: "Show all messages",
  message: "Message",
  from: "From",
  via: "Channel",
  agent: "Agent",
  state: "State",
  time: "Time",
  withoutText: "(no text)",
};

const zh: typeof en = {
  description: "网关收到的每一条消息，以及处理结果。",
  none: "还没有消息",
  noneYet: "有人给智能体发消息后，会显示在这里。",
  ofSession: "只看一个会话：",
  all: "显示全部消息",
  message: "消息",
  from: "发送者",
  via: "渠道",
  agent: "智能体",
  state: "状态",
  time: "时间",
  withoutText: "（没有文字）",
};

export const useMessagesWords = pageWords({ en, zh });
