import type { RoleName } from "../facts.ts";
import type { policy as en } from "./en.ts";

export const ROLES: Readonly<Record<RoleName, string>> = {
  owner: "所有者",
  member: "成员",
  guest: "访客",
  system: "网关自身",
};

export const CONVERSATION_KINDS: ReadonlyMap<string, string> = new Map([
  ["direct", "私聊"],
  ["group", "群聊"],
  ["channel", "频道"],
  ["api", "API 对话"],
]);

export const policy: typeof en = {
  whose: {
    agent: (id) => `智能体 ${id}`,
    role: (role) => ROLES[role],
    channel: (kind) => CONVERSATION_KINDS.get(kind) ?? kind,
    group: (id) => `群聊 ${id}`,
    model: (name) => `模型 ${name}`,
    parent: "上级运行",
  },
  allowed: (tool, agent, role) => `智能体 ${agent} 和${ROLES[role]}可以使用 ${tool}。`,
  denied: (tool, whose) => `${whose}不得使用 ${tool}。`,
  notListed: (tool, whose) => `${whose}的可用工具中没有 ${tool}。`,
  asks: (tool, whose) => `${whose}使用 ${tool} 需要审批。`,
  gone: "请求者在此处已没有相应权限。",
  always: (tool) => `根据配置，每次使用 ${tool} 都需要审批。`,
  unlisted: (tool) => `根据配置，使用 ${tool} 需要审批，除非有长期规则允许。`,
  tainted: (tool, sources) => `根据配置，读取来自 ${sources.join("、")} 的内容后，使用 ${tool} 需要审批。`,
  claims: {
    read_identity: (detail) => `读取智能体自己的笔记（${detail}）`,
    write_identity: (detail) => `修改智能体自己的笔记（${detail}）`,
    forget_memory: (detail) => `从记忆中删除：${detail}`,
    exec_network: (detail) => `运行能访问网络的程序（${detail}）`,
    message_elsewhere: (detail) => `向其他对话发送消息（${detail}）`,
    read_elsewhere: (detail) => `查看其他对话（${detail}）`,
    schedule: (detail) => `修改定时任务（${detail}）`,
    fetch_unseen: (detail) => `访问未经任何人提供的网址（${detail}）`,
    operate_page: (detail) => `在浏览器中操作页面（${detail}）`,
    save_download: (detail) => `保存网页提供的文件（${detail}）`,
    read_config: (detail) => `查看网关及其配置（${detail}）`,
    configure: (detail) => `修改网关配置（${detail}）`,
  },
  guestMayNot: (what) => `访客不能${what}。`,
  hasSeen: (sources, what) => `本次运行读取过来自 ${sources.join("、")} 的内容，${what}需要审批。`,
  everybodyAsks: (what) => `任何人${what}都需要审批。`,
  roleAsks: (role, what) => `${ROLES[role]}${what}需要审批。`,
};
