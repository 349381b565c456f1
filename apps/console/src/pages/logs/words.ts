import { pageWords } from "../../words/words.tsx";

const en = {
  description: "The latest lines of the gateway's log, newest first, without secrets.",
  level: "Minimum level",
  search: "Search in these lines",
  none: "No lines",
  noneYet: "Choose a lower level, or wait until something happens.",
};

const zh: typeof en = {
  description: "网关日志的最新内容，最新的在前，不含密钥。",
  level: "最低级别",
  search: "在这些内容中搜索",
  none: "没有内容",
  noneYet: "可选择更低的级别，或等待新的日志。",
};

export const useLogsWords = pageWords({ en, zh });
