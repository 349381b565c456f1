import { pageWords } from "../../words/words.tsx";

const en = {
  description: "What the agents are doing right now.",
  runsInProgress: "Runs in progress",
  messagesWaiting: "Messages waiting",
  approvalsWaiting: "Approvals waiting",
  nextSchedule: "Next scheduled",
  nothingScheduled: "nothing",
  runs: "Runs",
  noRuns: "No agent is working",
  noRunsYet: "A run starts when somebody writes to an agent, or at a scheduled time.",
  since: (time: string) => `for ${time}`,
  waiting: "Waiting messages",
  commands: "Background commands",
  schedules: "Scheduled",
};

const zh: typeof en = {
  description: "智能体此刻在做什么。",
  runsInProgress: "进行中的运行",
  messagesWaiting: "等待中的消息",
  approvalsWaiting: "等待审批",
  nextSchedule: "下一个定时任务",
  nothingScheduled: "无",
  runs: "运行",
  noRuns: "没有智能体在工作",
  noRunsYet: "有人给智能体发消息，或到了定时任务的时间，运行就会开始。",
  since: (time) => `已 ${time}`,
  waiting: "等待中的消息",
  commands: "后台命令",
  schedules: "定时任务",
};

export const useActivityWords = pageWords({ en, zh });
