import { pageWords } from "../../words/words.tsx";

const en = {
  description:
    "Instructions and programs that agents can use. A skill that is added here or written into a workspace needs an owner's approval, and so does each later change. A skill that somebody copies into the gateway's own skills folder is used at once, because only its operator can write there.",
  pending: "Waiting for your approval",
  newSkill: "new",
  changedSkill: "changed",
  usedBy: (agents: string) => `Used by ${agents}.`,
  changes: "Changes",
  files: (added: number, changed: number, removed: number) =>
    `Files: ${added} added, ${changed} changed, ${removed} removed.`,
  approve: "Approve this version",
  reallyApprove: (id: string) => `Approve the skill ${id}?`,
  approves: "Agents then follow its instructions and may run its programs. Read the changes first.",
  approved: (id: string) => `The skill ${id} has been approved.`,
  add: "Add a skill",
  addHelp:
    "Choose a folder with a SKILL.md, or a ZIP file of one, on your computer. It is copied to the agent's workspace and waits for your approval.",
  agent: "Agent",
  chooseFolder: "Choose a folder",
  chooseZip: "Choose a ZIP file",
  added: (id: string) => `The skill ${id} has been added and waits for your approval.`,
  tooLarge: (files: number, kilobytes: number) =>
    `The skill has more than ${files} files or ${kilobytes} kB. Remove what the skill does not need.`,
  install: (methods: string) =>
    `Run this on the gateway's machine. It shows the commands first (${methods}) and asks before it runs them.`,
  problems: "Problems",
  of: (agent: string) => `Skills of ${agent}`,
  none: "No skills",
  noneYet:
    "Add a folder with a SKILL.md here. Or copy it into the skills folder of the gateway, which needs no approval, or of a workspace, which does.",
  skill: "Skill",
  source: "Source",
  state: "State",
  states: { active: "usable", pending: "waiting", excluded: "not usable" },
};

const zh: typeof en = {
  description:
    "智能体可用的说明和程序。在此添加或写入工作区的技能需要所有者批准，之后的每次改动也需要批准。直接复制到网关技能目录的技能会立即启用，因为只有运维人员能写入该目录。",
  pending: "等待你批准",
  newSkill: "新增",
  changedSkill: "有改动",
  usedBy: (agents) => `使用者：${agents}。`,
  changes: "改动",
  files: (added, changed, removed) => `文件：新增 ${added}，修改 ${changed}，删除 ${removed}。`,
  approve: "批准此版本",
  reallyApprove: (id) => `批准技能 ${id}？`,
  approves: "批准后智能体会遵循其说明，并可能运行其中的程序。请先查看改动。",
  approved: (id) => `技能 ${id} 已批准。`,
  add: "添加技能",
  addHelp:
    "请选择本机上包含 SKILL.md 的文件夹或其 ZIP 压缩包。文件会复制到智能体的工作区，经你批准后才能使用。",
  agent: "智能体",
  chooseFolder: "选择文件夹",
  chooseZip: "选择 ZIP 文件",
  added: (id) => `已添加技能 ${id}，等待你批准。`,
  tooLarge: (files, kilobytes) => `技能超过 ${files} 个文件或 ${kilobytes} kB。请删除不需要的文件。`,
  install: (methods) => `请在网关所在的机器上运行。它会先显示要执行的命令（${methods}），经你同意后才执行。`,
  problems: "问题",
  of: (agent) => `${agent} 的技能`,
  none: "没有技能",
  noneYet:
    "请在此添加包含 SKILL.md 的文件夹。也可以把它复制到网关的技能目录（无需批准）或工作区的技能目录（需要批准）。",
  skill: "技能",
  source: "来源",
  state: "状态",
  states: { active: "可用", pending: "待批准", excluded: "不可用" },
};

export const useSkillsWords = pageWords({ en, zh });
