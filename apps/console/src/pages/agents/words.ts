import { pageWords } from "../../words/words.tsx";

const en = {
  description: "Who answers: each with its own model, tools, skills and workspace.",
  none: "No agents",
  noneYet: "Add one under agents.list in the configuration.",
  configure: "Edit in the configuration",
  agent: "Agent",
  model: "Model",
  isDefault: "default",
  isDemo: "demo model",
};

const zh: typeof en = {
  description: "由谁来回答：每个智能体有自己的模型、工具、技能和工作区。",
  none: "没有智能体",
  noneYet: "在配置的 agents.list 中添加。",
  configure: "在配置中编辑",
  agent: "智能体",
  model: "模型",
  isDefault: "默认",
  isDemo: "演示模型",
};

export const useAgentsWords = pageWords({ en, zh });
