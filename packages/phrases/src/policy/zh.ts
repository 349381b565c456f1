import type { RoleName } from "../facts.ts";
import type { policy as en } from "./en.ts";

export const ROLES: Readonly<Record<RoleName, string>> = {
  owner: "主人",
  member: "成员",
  guest: "访客",
  system: "网关自身",
};

export const policy: typeof en = {
  whose: {
    agent: (id) => `智能体 ${id}`,
    role: (role) => ROLES[role],
    channel: (kind) => `${kind} 会话`,
    model: (name) => `模型 ${name}`,
    parent: "上级运行",
  },
  allowed: (tool, agent, role) => `智能体 ${agent} 和${ROLES[role]}可以使用 ${tool}。`,
  denied: (tool, whose) => `${whose}不得使用 ${tool}。`,
  notListed: (tool, whose) => `${whose}的工具里没有 ${tool}。`,
  asks: (tool, whose) => `${whose}使用 ${tool} 需要审批。`,
  gone: "提出要求的人在这里已经不能再要求什么。",
  always: (tool) => `按配置，每次使用 ${tool} 都要先审批。`,
  unlisted: (tool) => `按配置，没有长期规则涵盖时，使用 ${tool} 要先审批。`,
  tainted: (tool, sources) => `按配置，看过来自 ${sources.join("、")} 的内容之后，使用 ${tool} 要先审批。`,
  claims: {
    read_identity: (detail) => `读取智能体自己的笔记（${detail}）`,
    write_identity: (detail) => `修改智能体自己的笔记（${detail}）`,
    forget_memory: (detail) => `从记忆中删除：${detail}`,
    exec_network: (detail) => `运行能访问网络的程序（${detail}）`,
    message_elsewhere: (detail) => `向别的会话发消息（${detail}）`,
    read_elsewhere: (detail) => `查看别的会话（${detail}）`,
    schedule: (detail) => `改动自动运行的任务（${detail}）`,
    fetch_unseen: (detail) => `抓取没有人给过它的网址（${detail}）`,
    read_config: (detail) => `查看网关和它的配置（${detail}）`,
    configure: (detail) => `修改网关的配置（${detail}）`,
  },
  guestMayNot: (what) => `访客不能${what}。`,
  hasSeen: (sources, what) => `这次运行看过来自 ${sources.join("、")} 的内容；要${what}，需要审批。`,
  everybodyAsks: (what) => `无论是谁，要${what}，都需要审批。`,
  roleAsks: (role, what) => `${ROLES[role]}要${what}，需要审批。`,
};
