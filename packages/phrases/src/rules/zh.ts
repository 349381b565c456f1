import { group, person } from "./concerned.ts";
import type { admission as admissionEn, ends as endsEn } from "./en.ts";

export const admission: typeof admissionEn = {
  owner: { because: "发送者是所有者" },
  dm_allowed: { because: "发送者在 access.allow 名单中" },
  dm_bound: { because: "有绑定指定了发送者" },
  dm_paired: { because: "发送者已配对" },
  dm_open: { because: "access.dm 对所有人开放" },
  group_mention: { because: "消息在允许的群聊中提及了智能体" },
  group_reply: { because: "消息在允许的群聊中回复了智能体" },
  group_open: { because: "智能体会回答该群的所有消息" },
  group_bot: { because: "机器人向智能体发送了消息，且 access.groups.bots 允许" },
  token: { because: "发送者持有网关的令牌" },
  dm_off: { because: "私聊已关闭", remedy: () => "将 access.dm 设为 pairing、allowlist 或 open。" },
  dm_unknown: {
    because: "发送者尚未配对，已向其发送配对码",
    remedy: (message) =>
      `用 \`signalbox pairing approve\` 批准该配对码，或将 ${person(message)} 加入 access.allow。`,
  },
  dm_not_allowed: {
    because: "发送者不在 access.allow 名单中",
    remedy: (message) => `将 ${person(message)} 加入 access.allow。`,
  },
  groups_off: {
    because: "群聊已关闭",
    remedy: () => "将 access.groups.mode 设为 allowlist 或 open。",
  },
  group_not_allowed: {
    because: "该群不在允许的范围内",
    remedy: (message) =>
      `将 ${group(message)} 加入 access.groups.allow，或在绑定中指定该群，或将 access.groups.mode 设为 open。`,
  },
  group_sender: {
    because: "发送者无权在该群中与智能体对话",
    remedy: (message) =>
      `将 ${person(message)} 加入 access.allow，或加入 access.groups.rules 中该群规则的 \`allow\`。access.groups.people 决定所有群中可以得到回答的人。`,
  },
  not_addressed: {
    because: "消息没有提及或回复智能体",
    remedy: () => "请提及或回复智能体，或将 access.groups.requireMention 设为 false。",
  },
  bot: {
    because: "发送者是机器人，两个机器人可能无休止地互相回复",
    remedy: () => "如需在群聊中回答提及智能体的机器人，请将 access.groups.bots 设为 mentioned。",
  },
  bot_loop: {
    because: "机器人在该处一分钟内发送了 20 条以上的消息，五分钟内不再回答机器人",
    remedy: () => "请减少另一个机器人的回复，或将 access.groups.bots 设为 ignore。",
  },
  reply_window: {
    because: "这个平台只接受回复，而对方最近没有发过消息",
    remedy: () => "请对方先发一条消息，或者改用其他渠道。",
  },
  own_message: { because: "这是智能体自己发送的消息" },
  token_revoked: {
    because: "发送时使用的令牌已被撤销",
    remedy: () => "用 `signalbox tokens add` 为发送者创建新令牌。",
  },
};

export const ends: typeof endsEn = {
  stopped: { because: "已被用户停止" },
  limit: {
    because: "运行达到上限后停止，仅返回已有的结果",
    remedy: () => "可在 agents.defaults.limits 中设置单次运行的上限。",
  },
  cut: { because: "回答因达到模型的输出上限而被截断" },
  repeated: { because: "运行反复执行同一步骤，已被停止" },
  deleted: { because: "消息在回答之前已在平台上被删除" },
  empty: {
    because: "模型的回答中没有文字",
    remedy: () => "请重新发送。如经常出现，请为智能体更换模型。",
  },
  queue_full: {
    because: "其对话中等待处理的消息过多",
    remedy: () => "请重新发送。可在 session.queue.cap 中设置等待消息的上限。",
  },
  poison: {
    because: "网关每次处理该消息时都会崩溃",
    remedy: () => "请换个说法。失败原因请查看日志。",
  },
  no_agent: {
    because: "其对话的智能体不可用",
    remedy: () => "运行 `signalbox config check` 可查看原因。",
  },
  internal: { because: "网关内部出错", remedy: () => "详情请查看日志。" },
  auth: {
    because: "模型服务商拒绝了 API 密钥",
    remedy: () => "请用 `signalbox init` 或在 models.providers.<名称>.apiKey 中设置有效的密钥。",
  },
  billing: {
    because: "模型服务商拒绝了账户：余额或配额已用完",
    remedy: () => "请在服务商的网站上检查账户。",
  },
  budget: {
    because: "预算已用完",
    remedy: () =>
      "请等待重置或调高预算。`signalbox usage --budgets` 列出全部预算；无法解析的预算，可用 `signalbox config check` 查看原因。",
  },
  rate_limit: {
    because: "已达到模型服务商的请求频率上限",
    remedy: () => "请稍候，或在 agents.defaults.fallbacks 中添加其他模型。",
  },
  overloaded: {
    because: "模型服务商负载过高",
    remedy: () => "请稍候，或在 agents.defaults.fallbacks 中添加其他模型。",
  },
  overflow: { because: "对话过长，超出模型的上下文长度", remedy: () => "请用 /new 开始新对话。" },
  invalid: {
    because: "模型服务商不支持该请求",
    remedy: () => "请更正 agents.defaults.model 中的模型名称或设置。",
  },
  filter: { because: "内容被模型服务商过滤" },
  network: {
    because: "无法连接模型服务商",
    remedy: () => "请检查网络，以及 models.providers.<名称>.baseUrl。",
  },
  timeout: {
    because: "模型服务商响应超时",
    remedy: () => "请重试，或在 agents.defaults.fallbacks 中添加其他模型。",
  },
  protocol: {
    because: "无法解析模型服务商的响应",
    remedy: () => "请检查 models.providers.<名称>.api 和 baseUrl：该地址可能提供另一种 API。",
  },
};
