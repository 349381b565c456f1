import { pageWords } from "../../words/words.tsx";

const en = {
  description: "Actions of agents that need an owner's decision before they run.",
  none: "Nothing is waiting for approval",
  history: "History",
  noHistory: "No decisions yet",
  noHistoryYet: "Every decision is recorded here and in the audit log.",
  action: "Action",
  tool: "Tool",
  agent: "Agent",
  outcome: "Outcome",
  by: "By",
  time: "Time",
  states: {
    pending: "pending",
    allowed: "allowed, not run yet",
    used: "allowed",
    denied: "denied",
    expired: "expired",
  } as Readonly<Record<string, string>>,
  noneYet: "Requests appear here, in the chat and as a direct message to the owners.",
};

const zh: typeof en = {
  description: "智能体要执行、但需要所有者先决定的操作。",
  none: "没有等待审批的操作",
  history: "历史",
  noHistory: "还没有审批记录",
  noHistoryYet: "每个决定都会记录在这里和审计日志中。",
  action: "操作",
  tool: "工具",
  agent: "智能体",
  outcome: "结果",
  by: "决定者",
  time: "时间",
  states: {
    pending: "等待中",
    allowed: "已允许，尚未执行",
    used: "已允许",
    denied: "已拒绝",
    expired: "已过期",
  },
  noneYet: "新的请求会出现在这里、聊天页，并私信给所有者。",
};

export const useApprovalsWords = pageWords({ en, zh });
