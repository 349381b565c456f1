import { pageWords } from "../../words/words.tsx";

const en = {
  description: "The accounts through which people reach the agents, and the state of the gateway.",
  accounts: "Accounts",
  account: "Account",
  state: "State",
  reason: "Reason",
  states: {
    ready: "ready",
    starting: "starting",
    degraded: "degraded",
    down: "down",
    stopped: "stopped",
  } as Readonly<Record<string, string>>,
  none: "No channel is configured",
  noneYet: "Connect Telegram, Feishu, Slack, Discord or another platform.",
  connect: "Connect a channel",
  gateway: "Gateway",
  version: "Version",
  runningSince: "Running since",
  inbox: "Messages waiting",
  outbox: "Replies to be delivered",
  configuration: "Configuration",
  forStart: (keys: string) => `These changes take effect after a restart: ${keys}`,
  kept: (sections: string) =>
    `The last change has errors, so these sections keep their earlier values: ${sections}. "signalbox config check" shows what is wrong.`,
  agents: "Agents",
  agent: "Agent",
  model: "Model",
  demo: "demo",
};

const zh: typeof en = {
  description: "人们通过这些账号联系智能体；这里也显示网关的状态。",
  accounts: "账号",
  account: "账号",
  state: "状态",
  reason: "原因",
  states: { ready: "正常", starting: "启动中", degraded: "部分异常", down: "不可用", stopped: "已停止" },
  none: "还没有配置渠道",
  noneYet: "可以接入飞书、Telegram、Slack、Discord 等平台。",
  connect: "接入渠道",
  gateway: "网关",
  version: "版本",
  runningSince: "启动于",
  inbox: "等待处理的消息",
  outbox: "待送达的回复",
  configuration: "配置",
  forStart: (keys) => `已修改，重启后才生效：${keys}`,
  kept: (sections) =>
    `上次修改有误，以下部分仍按之前的运行：${sections}。运行 signalbox config check 查看原因。`,
  agents: "智能体",
  agent: "智能体",
  model: "模型",
  demo: "演示",
};

export const useChannelsWords = pageWords({ en, zh });
