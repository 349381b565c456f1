import { pageWords } from "../../words/words.tsx";

const en = {
  description: "The models that agents can use, by provider.",
  setUp: "Set up providers",
  none: "No provider is set up",
  noneYet: "The offline demo model answers. Add a provider with its key.",
  search: "Search models",
  model: "Model",
  window: "Context",
  tokens: (count: string) => `${count} tokens`,
  price: "Price per million tokens",
  unknown: "unknown",
  inAndOut: (input: string, output: string) => `${input} in, ${output} out`,
  usedBy: "Used by",
  actions: "Actions",
  tryIt: "Try",
  answers: (model: string, time: string) => `${model} answered in ${time}.`,
  fails: (model: string) => `${model} does not answer`,
};

const zh: typeof en = {
  description: "智能体可用的模型，按服务商排列。",
  setUp: "设置服务商",
  none: "还没有设置服务商",
  noneYet: "目前由离线演示模型回答。请添加服务商及其密钥。",
  search: "搜索模型",
  model: "模型",
  window: "上下文",
  tokens: (count) => `${count} 词元`,
  price: "每百万词元价格",
  unknown: "未知",
  inAndOut: (input, output) => `输入 ${input}，输出 ${output}`,
  usedBy: "使用者",
  actions: "操作",
  tryIt: "试用",
  answers: (model, time) => `${model} 在 ${time} 内作答。`,
  fails: (model) => `${model} 没有作答`,
};

export const useModelsWords = pageWords({ en, zh });
