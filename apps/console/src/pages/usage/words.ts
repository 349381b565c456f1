import type { BudgetBalance } from "@signalbox/client";
import { pageWords } from "../../words/words.tsx";

const en = {
  description: "Tokens and money that finished runs have used.",
  by: "Group by",
  bys: {
    day: "Day",
    model: "Model",
    agent: "Agent",
    channel: "Channel",
    sender: "Person",
    session: "Session",
  },
  span: "Period",
  days: (count: number) => `Last ${count} days`,
  allTime: "All time",
  none: "No usage yet",
  noneYet: "Usage appears here after the first run. Try another period if there should be some.",
  cost: "Cost",
  runs: "Runs",
  calls: "Model calls",
  tokens: "Tokens",
  input: "Tokens in",
  output: "Tokens out",
  cached: (share: string) => `${share} of the input from the cache`,
  perRun: (cost: string) => `${cost} per run`,
  chart: "Course over time",
  measure: "Measure",
  measures: { cost: "Cost", tokens: "Tokens", runs: "Runs" },
  total: "Total",
  others: "Others",
  table: "Usage",
  share: "Share",
  nobody: "(nobody)",
  noModel: "(unknown or no model)",
  budgets: "Budgets",
  budget: ({ of, name, roles, per }: BudgetBalance, amount: string) => {
    const whose = of === "all" ? "all calls" : name === undefined ? `each ${of}` : `${of} ${name}`;
    return `${whose}${roles === undefined ? "" : ` (${roles.join(", ")})`}, ${amount} a ${per}`;
  },
  tokenCount: (count: string) => `${count} tokens`,
  left: (left: string, allowed: string) => `${left} of ${allowed} left`,
  resets: (time: string) => `resets ${time}`,
};

const SPENDERS = { sender: "发送者", agent: "智能体", channel: "渠道" };

const zh: typeof en = {
  description: "已结束的运行用掉的词元和费用。",
  by: "分组",
  bys: { day: "日期", model: "模型", agent: "智能体", channel: "渠道", sender: "人员", session: "会话" },
  span: "范围",
  days: (count) => `最近 ${count} 天`,
  allTime: "全部时间",
  none: "还没有用量",
  noneYet: "第一次运行结束后，用量会显示在这里。也可以换一个范围。",
  cost: "费用",
  runs: "运行",
  calls: "模型调用",
  tokens: "词元",
  input: "输入词元",
  output: "输出词元",
  cached: (share) => `输入中 ${share} 来自缓存`,
  perRun: (cost) => `每次运行 ${cost}`,
  chart: "变化趋势",
  measure: "指标",
  measures: { cost: "费用", tokens: "词元", runs: "运行" },
  total: "合计",
  others: "其他",
  table: "用量",
  share: "占比",
  nobody: "（无人）",
  noModel: "（未知或未调用模型）",
  budgets: "预算",
  budget({ of, name, roles, per }, amount) {
    const whose =
      of === "all" ? "所有调用" : name === undefined ? `每个${SPENDERS[of]}` : `${SPENDERS[of]} ${name}`;
    const who = roles === undefined ? whose : `${whose}（${roles.join("、")}）`;
    return `${who}，每${per === "day" ? "天" : "月"} ${amount}`;
  },
  tokenCount: (count) => `${count} 词元`,
  left: (left, allowed) => `剩余 ${left}，共 ${allowed}`,
  resets: (time) => `${time}重新开始`,
};

export const useUsageWords = pageWords({ en, zh });
