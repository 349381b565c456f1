import { pageWords } from "../../words/words.tsx";

const en = {
  description: "Decisions and changes, in a chain that reveals every later alteration.",
  none: "No entries yet",
  noneYet: "Sign-ins, approvals, tool calls and changes appear here.",
  kind: "Area",
  all: "All areas",
  kinds: {
    approval: "Approvals",
    configuration: "Configuration",
    operation: "Operation",
    pairing: "Pairings",
    sign_in: "Sign-ins",
    token: "Tokens",
    tool: "Tools",
  },
  time: "Time",
  action: "Action",
  subject: "Subject",
  actor: "By",
  verify: "Verify the chain",
  intact: (count: number) => `All ${count} entries are intact.`,
  broken: (seq: number) => `The log was altered at entry ${seq}.`,
};

const zh: typeof en = {
  description: "决定和更改记录在一条链中，事后的任何篡改都会被发现。",
  none: "还没有记录",
  noneYet: "登录、审批、工具调用和更改会出现在这里。",
  kind: "范围",
  all: "全部范围",
  kinds: {
    approval: "审批",
    configuration: "配置",
    operation: "操作",
    pairing: "配对",
    sign_in: "登录",
    token: "令牌",
    tool: "工具",
  },
  time: "时间",
  action: "动作",
  subject: "对象",
  actor: "执行者",
  verify: "校验记录链",
  intact: (count) => `全部 ${count} 条记录完好。`,
  broken: (seq) => `记录在第 ${seq} 条处被篡改。`,
};

export const useAuditWords = pageWords({ en, zh });
