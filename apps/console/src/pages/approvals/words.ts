import { pageWords } from "../../words/words.tsx";

const en = {
  description: "Actions of agents that need an owner's decision before they run.",
  none: "Nothing is waiting for approval",
  noneYet: "Requests appear here, in the chat and as a direct message to the owners.",
};

const zh: typeof en = {
  description: "智能体要执行、但需要所有者先决定的操作。",
  none: "没有等待审批的操作",
  noneYet: "新的请求会出现在这里、聊天页，并私信给所有者。",
};

export const useApprovalsWords = pageWords({ en, zh });
