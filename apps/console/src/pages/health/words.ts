import { pageWords } from "../../words/words.tsx";

const en = {
  description:
    "What signalbox doctor checks: the machine, the configuration, the accounts and the stored data.",
  check: "Check the platforms",
  problems: "Needs attention",
  good: "In order",
  remote: "At the platforms",
  allGood: "Everything is in order",
  allGoodNow: "No check has found a problem.",
  part: "Part",
  state: "State",
  detail: "Result",
  states: { ok: "ok", warning: "warning", error: "error" },
};

const zh: typeof en = {
  description: "与 signalbox doctor 相同的检查：机器、配置、账号和存储的数据。",
  check: "检查各平台",
  problems: "需要处理",
  good: "正常",
  remote: "平台检查结果",
  allGood: "一切正常",
  allGoodNow: "没有发现问题。",
  part: "检查项",
  state: "状态",
  detail: "结果",
  states: { ok: "正常", warning: "警告", error: "错误" },
};

export const useHealthWords = pageWords({ en, zh });
