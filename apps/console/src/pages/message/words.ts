import { pageWords } from "../../words/words.tsx";

const en = {
  timeline: "Timeline",
  from: "From",
  where: "Where",
  agent: "Agent",
  session: "Session",
  rule: "Rule",
  received: "Received",
  details: "Details",
  noNotes: "The trace of this message has been deleted.",
  after: (ms: string) => `after ${ms}`,
};

const zh: typeof en = {
  timeline: "处理过程",
  from: "发送者",
  where: "来源",
  agent: "智能体",
  session: "会话",
  rule: "规则",
  received: "收到时间",
  details: "细节",
  noNotes: "没有留下记录。",
  after: (ms) => `${ms} 后`,
};

export const useMessageWords = pageWords({ en, zh });
