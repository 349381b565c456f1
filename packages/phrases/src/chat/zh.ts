import type { BudgetFacts, NamedAgent } from "../facts.ts";
import { count, dollars, minuteOf, shortDollars, spanOf } from "../figures.ts";
import { ROLES } from "../policy/zh.ts";
import type { chat as en } from "./en.ts";

export const chat: typeof en = {
  commands: {
    help: "这里可以说什么",
    status: "智能体、模型和当前状态",
    whoami: "你在这个网关里是谁",
    new: "开始新的会话",
    reset: "同 /new",
    stop: "立即停止正在进行的回合",
    why: "上一条（或指定的）消息是怎么处理的；加上 details 会逐步列出",
    usage: "词元与费用",
    queue: "回合进行中来的消息怎么办；只有主人能改",
    skill: "使用技能；不写名字则列出全部",
    skills: "等你审批的新增或有改动的技能，以及改了什么",
    model: "本会话或单条消息用的模型",
    think: "本会话或单条消息思考多少",
    compact: "用摘要代替较早的对话",
    approve: "决定等待中的工具调用；不写编号则列出全部",
    answer: "回答智能体问你的问题；直接写出答案也可以",
    trust: "查看并信任工作区里别人写的文件",
  },
  skillsHead: "技能：",
  mayNotUse: (command) => `你在这里不能用 /${command}。`,
  noCommand: (name) => `没有命令 /${name}；/help 列出全部命令。前面加一个字，智能体就会读到它。`,
  commandGone: "这个命令已经不存在，没有执行。",
  newConversation: "新的会话开始了。",
  done: "完成。",

  status(facts) {
    const { version, upMs, agent, model, thinking, messages, sessionKey, isRunning, waiting } = facts;
    const { calls = 0, skills = 0 } = facts.forOwner ?? {};
    return [
      `Signalbox ${version}，已运行 ${duration(upMs)}。`,
      `智能体：${nameAndId(agent)}，模型 ${model}，思考 ${thinking}。`,
      `会话：${messages} 条消息，${sessionKey}。`,
      `现在：${isRunning ? "有回合正在进行" : "没有回合在进行"}，${waiting} 条在等待，队列模式 ${facts.queueMode}。`,
      ...(calls > 0 ? [`${calls} 个工具调用等待审批：/approve`] : []),
      ...(skills > 0 ? [`${skills} 个技能是新的或有改动，等你处理：/skills`] : []),
    ].join("\n");
  },
  whoami({ speaker, role, rule, agent, conversation, sessionKey }) {
    const place = conversation.kind === "direct" ? "私聊" : `${conversation.kind} ${conversation.id}`;
    return [
      `你是 ${speaker}，身份：${ROLES[role]}（${rule}）。`,
      `你在${place}里和 ${nameAndId(agent)} 对话。`,
      `会话：${sessionKey}`,
    ].join("\n");
  },
  stopped(wasRunning, dropped) {
    const what = wasRunning ? "已停止。" : "没有正在进行的回合。";
    return dropped === 0 ? what : `${what}丢弃了 ${dropped} 条等待中的消息。`;
  },

  queue: (mode, isOwn, waiting) => `队列模式：${mode}${isOwn ? "（本会话）" : ""}。${waiting} 条消息在等待。`,
  queueForOwners: "只有主人能改队列模式。",
  noQueueMode: (typed, modes) => `没有队列模式 ${typed}。可选：${modes.join("、")}、default。`,

  noSkills: "这个智能体没有技能。",
  noSkill: (typed) => `没有技能 ${typed}。现有：`,
  noSkillWaits: "没有技能在等主人处理。",
  sayOfSkills: "请写：/skills，或 /skills approve <名称> <哈希>。",
  thisSkillWaitsNot: (name) => `没有名为 ${name} 的技能在等主人处理。`,
  skillChangedAgain: (name) => `${name} 又有改动：/skills`,
  skillApproved: (name) => `已批准：技能 ${name} 的当前内容。`,
  skillTooLong: (name) =>
    `技能 ${name} 在等主人处理。改动太长，聊天里放不下：用 \`signalbox skills changes\` 查看。`,

  model: (model) => `模型：${model}。`,
  noModel: (typed) => `没有可用的模型 ${typed}。`,
  thereAre: "可选：",
  modelDefault: "/model default 恢复智能体自己的模型。",
  modelChosen: (model) => `从下一回合起使用模型：${model}。`,
  thinking: (level) => `思考：${level}。`,
  noThinking: (typed) => `没有思考级别 ${typed}。`,
  thinkingLevels: (levels) => `可选：${levels.join("、")}、default。`,
  thinkingChosen: (level) => `从下一回合起的思考级别：${level}。`,
  cannotThink: "这个模型不会思考。",

  nothingBefore: "这条消息之前没有别的消息。",
  noMessage: (id) => `这里没有消息 ${id}。`,

  usage(totals = {}) {
    const { modelCalls = 0, inputTokens = 0, cacheReadTokens = 0, outputTokens = 0, costMicros = 0 } = totals;
    return `输入 ${count(inputTokens)} 词元（其中缓存 ${count(cacheReadTokens)}），输出 ${count(outputTokens)}，模型调用 ${count(modelCalls)} 次，${dollars(costMicros)}`;
  },
  usageOfMessage: (isQuoted) => (isQuoted ? "你回复的那条消息" : "上一条消息"),
  usageHere: "本会话",
  usageYours: "你今天（UTC）",
  usageToday: (agent) => `${agent} 今天（UTC）`,
  usageEver: (agent) => `${agent} 总计`,
  labelled: (label, text) => `${label}：${text}`,
  budgetLeft: (facts) =>
    `${budget(facts)}：剩余 ${amount(facts.unit, facts.left)}，${minuteOf(facts.until)} UTC 重新开始`,
  budgetUsedUp: (facts) => `预算已用完：${budget(facts)}。`,
  grantMore: (account, facts) =>
    `给“${account}”再加 ${amount(facts.unit, facts.limit)}，有效到 ${new Date(facts.until).toISOString()}。`,

  sayWhichFile: "请写明文件：/trust <文件或文件夹>",
  trustInPrivate: (path) => `/trust 会显示 ${path} 的内容，请在私聊中使用。`,
  trustOnMachine: (path) => `${path} 太长，无法在聊天中显示。请用 \`signalbox trust\` 查看。`,
  trusted: (path) => `${path} 从现在起算作你写的。`,
  notTrusted: {
    received: (path, folder) => `${path} 是随消息收到的。请先把它复制到 ${folder}/ 之外，再信任副本。`,
    nothing: (path) => `${path} 里没有别人写的内容。`,
    inFolder: (folder) => `整个 ${folder} 都是别人写的，请信任这个文件夹。`,
    outside: (path) => `${path} 不在工作目录里，请写相对于它的路径。`,
    missing: (path) => `没有 ${path}。`,
    unusable: (path) => `${path} 无法使用。`,
    tooLarge: (path) => `${path} 内容太多，无法一次查看。请分批信任。`,
    review: (path) => `请查看 ${path} 的内容，确认信任后发送：`,
    changed: (path) => `${path} 与您查看过的内容不同，请重新查看：`,
  },

  noApprovalWaits: "没有工具调用在等待审批。",
  noApproval: (id) => `没有待处理的审批 ${id}。`,
  notDecided: {
    unknown: (id) => `没有审批 ${id}。`,
    decided: (id) => `审批 ${id} 已经有决定了。`,
    expired: (id) => `审批 ${id} 已过期。`,
  },
  noAllowRule: (id) => `审批 ${id}：没有长期规则能表达它；请只允许这一次，或者拒绝。`,
  decided: (decision, tool, id) =>
    `${{ allow: "已允许", "allow-always": "已始终允许", deny: "已拒绝" }[decision]}：${tool}，审批 ${id}。`,
  question: (facts) =>
    [
      `审批 ${facts.id}：智能体 ${facts.agent} 要使用 ${facts.tool}。${facts.reason}`,
      facts.action,
      ...(facts.program === undefined ? [] : [`程序：${facts.program}`]),
      ...(facts.folder === undefined ? [] : [`目录：${facts.folder}`]),
      ...(facts.hosts.length === 0 ? [] : [`可访问：${facts.hosts.join("、")}`]),
      ...(facts.files.length === 0 ? [] : [`涉及的文件（当前内容）：${facts.files.join("、")}`]),
      ...(facts.environment.length === 0 ? [] : [`环境变量：${facts.environment.join(" ")}`]),
      `由主人决定，${facts.until} 前有效：`,
      ...facts.answers,
    ].join("\n"),
  actionForOwners: (id) => `具体内容只给主人看：可在网页上查看，或在私聊中发送 /approve ${id}。`,
  allow: "允许",
  deny: "拒绝",
  allowed: "已允许。",
  denied: "已拒绝。",
  undecided: "已过期。",

  sayTheAnswer: "请把答案写在问题编号后面：/answer <编号> <答案>",
  noQuestion: (id) => `没有待回答的问题 ${id}。`,
  questionOfOthers: "那个问题是问别人的。",
  questionOver: "那个问题已经不需要回答了。",
  byNumber: "回复数字即可，也可以用自己的话。",
  answer: "回答",
  otherAnswer: "其他回答",
  answered: (text) => `已回答：${text}`,
  needsNoAnswer: "已不需要回答。",
  nobodyAnswered: "没有人及时回答。",

  compacted(replaced, messages, tokens, byModel) {
    const by = byModel ? "" : "模型没有及时给出摘要，所以只列出了原有内容。";
    return `${messages} 条消息中的 ${replaced} 条现在由摘要代替（之前约 ${tokens} 词元）。${by}`;
  },
  nothingToCompact: "还没有可以压缩的内容。",
  noUsableModel: (agent) => `智能体 ${agent} 没有可用的模型。`,
  mayNotUseTool: (tool) => `你在这里不能使用工具 ${tool}。`,
  noPlainText: (tool) => `工具 ${tool} 不能用普通文字调用。`,
  outcomeUnknown: "执行过程中网关重启了，所以可能生效，也可能没有。再做一次之前请先检查。",

  stoppedMark: "（已停止）",
  cutMark: "……（回答达到模型的输出上限，被截断）",
  declined: "模型拒绝回答。",
  limitReached: (limit) => `（已停止：这次运行达到了 ${limit} 的上限。）`,
  repeated: "（已停止：同一步骤被反复尝试。）",
  waitsForApproval: "（正在等待审批。）",
  unspoken: (tools) => `（没有答案：${tools.join("、")} 没有成功。请再问一次，或者换个问题。）`,
  emptyAnswer: "（模型没有给出文字回答。请再试一次，或换个说法。）",

  failed: {
    poison: "你的消息几次让我停止工作，所以我把它放到了一边。请换个说法。",
    noAgent: "这个会话的智能体已经不能工作了。",
    notSetUp: "抱歉，这个智能体还没有配置好，无法回答。管理者可以在日志里看到原因。",
    internal: "抱歉，网关内部出错了，详情见它的日志。",
    account: "抱歉，无法回答：模型服务商拒绝了这个网关的账户，需要管理者处理。",
    budget: "抱歉，无法回答：预算已用完。/usage 可查看何时重新开始。",
    overloaded: "抱歉，无法回答：模型服务商过载了。请稍后再试。",
    overflow: "抱歉，无法回答：这个会话太长，模型装不下。请用 /new 开始新的会话。",
    unreachable: "抱歉，无法回答：连不上模型服务商。请稍后再试。",
    model: "抱歉，无法回答：模型服务商返回了错误。请再试一次。",
  },
  tooManyWait: (dropped, cap) =>
    dropped === "old"
      ? `这里等待的消息太多（超过 ${cap} 条），在我赶上之前会略过最早的。还重要的请重新发送。`
      : `这里等待的消息太多（超过 ${cap} 条），在我赶上之前会略过新来的。请稍后重新发送。`,

  pairing: (code) => `配对码：${code}。这个助手的主人可以在十分钟内用它允许你对话。`,
  paired: "你现在可以和这个助手对话了。",

  expired: (count, begun) =>
    count > 1
      ? `有 ${count} 条回答没能及时送达，已经过时，所以我没有发送。还需要知道的请再问一次。`
      : `${begun ? "一条回答的其余部分" : "一条回答"}没能及时送达，已经过时，所以我没有发送。如果还需要，请再问一次。`,
  notTaken: "我有一条回答，但这个聊天不接受它。管理者可以看到原因。",
  fileNotSent: (name, why) => `[文件：${name} 没有发送：${why}]`,
  whyNotSent: {
    refused: "平台不接受它",
    givenUp: "没能上传",
    noAttachments: "这个渠道不收附件",
    tooMany: (most) => `一条消息最多 ${most} 个附件`,
    forbidden: "不允许发送它",
    notFetched: "不允许获取它",
    empty: "它是空的",
    page: "它是一个网页",
    noFile: "没有这个文件",
    noPlainFile: "它不是文件",
    outside: "它不在智能体的工作目录里",
    unreadable: "无法读取它",
    tooLarge: (size, most) => `它有 ${size}，这里最多能发送 ${most}`,
    noSuchKind: (mimeType) => `这里不能发送 ${mimeType}`,
  },
  givenUp(counts, more) {
    const sum = counts.reduce((all, { count }) => all + count, 0);
    const list = counts.map(
      ({ count, state, account }) => `${account} ${STATES.get(state) ?? state} ${count} 条`,
    );
    return `${more ? "超过 " : ""}${sum} 条回复没有送达：${list.join("、")}。用 \`signalbox outbox list\` 查看是哪些以及原因。`;
  },
};

const STATES: ReadonlyMap<string, string> = new Map([
  ["dead", "无法送达"],
  ["uncertain", "不确定是否送达"],
  ["expired", "已过时"],
]);

const WHOSE: Readonly<Record<BudgetFacts["of"], string>> = {
  sender: "发送者",
  agent: "智能体",
  channel: "渠道",
  all: "全部调用",
};
const UNITS = { s: "秒", min: "分钟", h: "小时", days: "天" } as const;

function nameAndId({ id, name }: NamedAgent): string {
  return name === id ? id : `${name}（${id}）`;
}

function duration(ms: number): string {
  const { unit, value, minutes } = spanOf(ms);
  return unit === "h" ? `${value} 小时 ${minutes} 分钟` : `${value} ${UNITS[unit]}`;
}

function amount(unit: BudgetFacts["unit"], value: number): string {
  return unit === "tokens" ? `${count(value)} 词元` : shortDollars(value);
}

function budget({ of, name, roles, unit, limit, per }: BudgetFacts): string {
  const whose = of === "all" ? WHOSE.all : name === undefined ? `每个${WHOSE[of]}` : `${WHOSE[of]} ${name}`;
  const who = roles === undefined ? whose : `${whose}（${roles.join("、")}）`;
  return `${who}，每${per === "day" ? "天" : "月"} ${amount(unit, limit)}`;
}
