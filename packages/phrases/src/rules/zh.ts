import { group, person } from "./concerned.ts";
import type { admission as admissionEn, ends as endsEn } from "./en.ts";

export const admission: typeof admissionEn = {
  owner: { because: "发送者是主人" },
  dm_allowed: { because: "发送者在 access.allow 里" },
  dm_bound: { because: "有一条绑定点名了发送者" },
  dm_paired: { because: "发送者已配对" },
  dm_open: { because: "access.dm 对所有人开放" },
  group_mention: { because: "智能体在它说话的群里被提及" },
  group_reply: { because: "它在智能体说话的群里回复了智能体" },
  group_open: { because: "智能体在这个群里回答所有消息" },
  group_bot: { because: "一个机器人对智能体说话，而 access.groups.bots 允许这样" },
  token: { because: "发送者持有网关的令牌" },
  dm_off: { because: "私聊已关闭", remedy: () => "把 access.dm 设为 pairing、allowlist 或 open。" },
  dm_unknown: {
    because: "发送者还没有配对，收到的是一个配对码",
    remedy: (message) =>
      `用 \`signalbox pairing approve\` 批准发给对方的配对码，或者把对方加进 access.allow：${person(message)}。`,
  },
  dm_not_allowed: {
    because: "发送者不在 access.allow 里",
    remedy: (message) => `把 ${person(message)} 加进 access.allow。`,
  },
  groups_off: {
    because: "群聊已关闭",
    remedy: () => "把 access.groups.mode 设为 allowlist 或 open。",
  },
  group_not_allowed: {
    because: "智能体不在这个群里说话",
    remedy: (message) =>
      `把 ${group(message)} 加进 access.groups.allow，或者在绑定里写上这个群，或者把 access.groups.mode 设为 open。`,
  },
  not_addressed: {
    because: "没有人对智能体说话",
    remedy: () => "提及它或者回复它；也可以把 access.groups.requireMention 设为 false。",
  },
  bot: {
    because: "发送者是机器人，而两个互相回答的机器人永远停不下来",
    remedy: () => "在群里可以设 access.groups.bots：mentioned 会回答对智能体说话的机器人。",
  },
  bot_loop: {
    because: "机器人在那里一分钟内写了 20 条以上，五分钟内一律不回答",
    remedy: () => "让另一个机器人少回答一些；或者把 access.groups.bots 设为 ignore。",
  },
  own_message: { because: "这是智能体自己的消息" },
  token_revoked: {
    because: "它带来的令牌已被撤销",
    remedy: () => "用 `signalbox tokens add` 给发送者另一个令牌。",
  },
};

export const ends: typeof endsEn = {
  stopped: { because: "有人停止了它" },
  limit: {
    because: "运行到了上限，只得到当时已有的结果",
    remedy: () => "agents.defaults.limits 决定一次运行可以用多少。",
  },
  cut: { because: "回答到了模型输出的上限就断了" },
  repeated: { because: "同一步骤被反复尝试，运行因此结束" },
  empty: {
    because: "模型的回答里没有文字",
    remedy: () => "请重新发送。如果经常这样，请给智能体换一个模型。",
  },
  deleted: { because: "回答之前它已在平台上被删除" },
  queue_full: {
    because: "它的会话里等待的消息太多",
    remedy: () => "请重新发送；session.queue.cap 决定可以等待多少条。",
  },
  poison: {
    because: "网关每次试着回答都停止了工作",
    remedy: () => "日志里写着停在哪里；请换个说法。",
  },
  no_agent: {
    because: "它的会话的智能体不能工作",
    remedy: () => "`signalbox config check` 会说明原因。",
  },
  internal: { because: "网关内部出错了", remedy: () => "日志里写着是什么错误。" },
  auth: {
    because: "模型服务商拒绝了密钥",
    remedy: () => "设置一个有效的密钥：`signalbox init`，或 models.providers.<名称>.apiKey。",
  },
  billing: {
    because: "模型服务商拒绝了账户：余额或配额已用完",
    remedy: () => "请到服务商的页面查看账户。",
  },
  budget: {
    because: "预算已用完",
    remedy: () =>
      "等它重新开始，或者调高它：`signalbox usage --budgets` 列出预算。读不懂的预算，`signalbox config check` 会说明原因。",
  },
  rate_limit: {
    because: "模型服务商限制了请求的频率",
    remedy: () => "请等一等，或者在 agents.defaults.fallbacks 里写上另一个模型。",
  },
  overloaded: {
    because: "模型服务商过载了",
    remedy: () => "请等一等，或者在 agents.defaults.fallbacks 里写上另一个模型。",
  },
  overflow: { because: "会话太长，模型装不下", remedy: () => "用 /new 开始新的会话。" },
  invalid: {
    because: "模型服务商做不到所要求的",
    remedy: () => "请改正模型的名称或设置：agents.defaults.model。",
  },
  filter: { because: "模型服务商过滤了它" },
  network: {
    because: "连不上模型服务商",
    remedy: () => "请检查网络，以及 models.providers.<名称>.baseUrl。",
  },
  timeout: {
    because: "模型服务商没有及时回答",
    remedy: () => "请再试一次，或者在 agents.defaults.fallbacks 里写上另一个模型。",
  },
  protocol: {
    because: "模型服务商返回的不是回答",
    remedy: () => "请检查 models.providers.<名称>.api 和 baseUrl：那个地址后面可能是另一种 API。",
  },
};
