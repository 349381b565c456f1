import type { BudgetFacts, NamedAgent } from "../facts.ts";
import { count, dollars, minuteOf, shortDollars, spanOf } from "../figures.ts";
import { OWNER_COMMANDS } from "../owner-commands.ts";
import { CONVERSATION_KINDS, ROLES } from "../policy/zh.ts";
import type { chat as en } from "./en.ts";

export const chat: typeof en = {
  commands: {
    help: "列出你在这里可以使用的命令",
    status: "显示智能体、模型和当前状态",
    whoami: "显示你在本网关的身份",
    new: "开始新对话",
    reset: "与 /new 相同",
    stop: "停止当前的运行",
    why: "说明上一条或指定消息的处理结果；加上 details 可查看每一步",
    usage: "显示词元用量和费用",
    queue: "显示运行期间收到的消息如何处理；所有者可以修改",
    speech: "查看或选择哪些回复同时以语音发送给你",
    skill: "使用技能；不写名称则列出全部技能",
    skills: "查看需要你审批的新技能和有改动的技能",
    model: "查看或设置当前对话或单条消息使用的模型",
    think: "设置当前对话或单条消息的思考级别",
    compact: "用摘要代替较早的消息",
    approve: "批准或拒绝工具调用；不写编号则列出待审批的调用",
    answer: "回答智能体提出的问题；也可以直接发送答案",
    trust: "查看并信任工作区中由他人写入的文件",
    mcp: "列出 MCP 服务器，登录或退出其中一个",
  },
  usages: {
    new: "[消息]",
    reset: "[消息]",
    why: "[消息编号] [details]",
    queue: "[steer|followup|collect|interrupt|default]",
    speech: "[never|voice|always|default]",
    skill: "<名称> [文本]",
    skills: "[approve <名称> <哈希>]",
    model: "[名称|default] [消息]",
    think: "[级别|default] [消息]",
    approve: "[编号] [allow|allow-always|deny]",
    answer: "<编号> <答案>",
    trust: "<文件或文件夹> [摘要]",
    mcp: "[login|logout <服务器>]",
    ofSkill: "[文本]",
  },
  skillsHead: "技能：",
  mayNotUse: (command) =>
    OWNER_COMMANDS.has(command) ? `/${command} 仅限所有者使用。` : `/${command} 仅限已获准的用户使用。`,
  greeting: (name, hasCommands) =>
    `你好，我是${name}。有什么需要，直接发消息给我即可。${hasCommands ? "发送 /help 可查看全部命令。" : ""}`,
  noCommand: (name) =>
    `没有命令 /${name}。发送 /help 可查看全部命令。如需将其作为普通文本发给智能体，请在前面加上文字。`,
  commandGone: "该命令已不存在，未执行。",
  newConversation: "已开始新对话。",
  done: "已完成。",

  status(facts) {
    const { version, upMs, agent, model, thinking, messages, isRunning, waiting } = facts;
    const { calls = 0, skills = 0 } = facts.forOwner ?? {};
    return [
      `Signalbox ${version}，已运行 ${duration(upMs)}。`,
      `智能体：${nameAndId(agent)}，模型 ${model}，思考 ${thinking}。`,
      `对话：${messages} 条消息。`,
      `当前：${isRunning ? "运行中" : "空闲"}，${waiting} 条消息等待处理，队列模式 ${facts.queueMode}。`,
      ...(calls > 0 ? [`${calls} 个工具调用待审批：/approve`] : []),
      ...(skills > 0 ? [`${skills} 个新技能或有改动的技能待审批：/skills`] : []),
    ].join("\n");
  },
  whoami({ speaker, role, rule, agent, conversation, sessionKey }) {
    const kind = CONVERSATION_KINDS.get(conversation.kind) ?? conversation.kind;
    const place = conversation.kind === "direct" ? kind : `${kind} ${conversation.id} `;
    return [
      `你是 ${speaker}，身份：${ROLES[role]}（${rule}）。`,
      `你正在${place}中与 ${nameAndId(agent)} 对话。`,
      `会话：${sessionKey}`,
    ].join("\n");
  },
  stopped(wasRunning, dropped) {
    const what = wasRunning ? "已停止。" : "当前没有正在进行的运行。";
    return dropped === 0 ? what : `${what}已丢弃 ${dropped} 条等待中的消息。`;
  },

  queue: (mode, isOwn, waiting) =>
    `队列模式：${mode}${isOwn ? "（仅当前对话）" : ""}。${waiting} 条消息等待处理。`,
  queueForOwners: "只有所有者可以修改队列模式。",
  noQueueMode: (typed, modes) => `没有名为 ${typed} 的队列模式。可选：${modes.join("、")}、default。`,

  speech(name, mode, isOwn) {
    const own = isOwn ? "（你的选择）" : "";
    if (mode === "never") return `${name} 不会以语音回复你${own}。`;
    return mode === "voice"
      ? `你发送语音时，${name} 会同时以语音回复${own}。`
      : `${name} 的回复都会同时以语音发送给你${own}。`;
  },
  noSpeech: "这里没有配置语音回复。",
  speechFixed: "语音回复的方式只能由管理员更改。",
  noSpeechMode: (typed, modes) => `没有“${typed}”这个选项。可选：${modes.join("、")}、default。`,

  noSkills: "这个智能体没有技能。",
  noSkill: (typed) => `没有名为 ${typed} 的技能。可用的技能：`,
  noSkillWaits: "没有待审批的技能。",
  sayOfSkills: "用法：/skills，或 /skills approve <名称> <哈希>",
  thisSkillWaitsNot: (name) => `没有名为 ${name} 的待审批技能。`,
  skillChangedAgain: (name) => `${name} 又有改动，请用 /skills 重新查看。`,
  skillApproved: (name) => `已批准技能 ${name} 的当前版本。`,
  skillTooLong: (name) =>
    `技能 ${name} 待审批。改动内容过长，无法在聊天中显示，请用 \`signalbox skills changes\` 查看。`,

  model: (model) => `模型：${model}。`,
  noModel: (typed) => `没有名为 ${typed} 的可用模型。`,
  thereAre: "可选：",
  modelDefault: "发送 /model default 可恢复智能体的默认模型。",
  modelChosen: (model) => `已将模型设为 ${model}，从下一次模型调用起生效。`,
  thinking: (level) => `思考：${level}。`,
  noThinking: (typed) => `没有名为 ${typed} 的思考级别。`,
  thinkingLevels: (levels) => `可选：${levels.join("、")}、default。`,
  thinkingChosen: (level) => `已将思考级别设为 ${level}，从下一次模型调用起生效。`,
  cannotThink: "该模型不支持思考模式。",

  nothingBefore: "这里没有更早的消息。",
  noMessage: (id) => `在此未找到消息 ${id}。`,

  usage(totals = {}) {
    const { modelCalls = 0, inputTokens = 0, cacheReadTokens = 0, outputTokens = 0, costMicros = 0 } = totals;
    return `输入 ${count(inputTokens)} 词元（其中缓存 ${count(cacheReadTokens)}），输出 ${count(outputTokens)}，模型调用 ${count(modelCalls)} 次，${dollars(costMicros)}`;
  },
  usageOfMessage: (isQuoted) => (isQuoted ? "你回复的那条消息" : "上一条消息"),
  usageHere: "当前对话",
  usageYours: "你今日（UTC）",
  usageToday: (agent) => `${agent} 今日（UTC）`,
  usageEver: (agent) => `${agent} 累计`,
  labelled: (label, text) => `${label}：${text}`,
  budgetLeft: (facts) =>
    `${budget(facts)}：剩余 ${amount(facts.unit, facts.left)}，${minuteOf(facts.until)} UTC 重置`,
  budgetUsedUp: (facts) => `预算已用完：${budget(facts)}。`,
  grantMore: (account, facts) =>
    `为“${account}”追加 ${amount(facts.unit, facts.limit)}，有效期至 ${new Date(facts.until).toISOString()}。`,

  sayWhichFile: "用法：/trust <文件或文件夹>",
  trustInPrivate: (path) => `/trust 会显示 ${path} 的内容，请在私聊中使用。`,
  mcpServers(servers) {
    if (servers.length === 0) return "尚未配置 MCP 服务器。";
    return servers
      .map(({ name, state, needsSignIn, notes }) =>
        [
          `${name}：${needsSignIn ? `请用 /mcp login ${name} 登录` : MCP_STATES[state]}`,
          ...(needsSignIn ? [] : notes),
        ].join("\n  "),
      )
      .join("\n");
  },
  mcpUsage: "用法：/mcp、/mcp login <服务器> 或 /mcp logout <服务器>",
  noMcpServer: (server) => `没有名为 ${server} 的远程 MCP 服务器。/mcp 可列出全部服务器。`,
  mcpInPrivate: "谁打开登录页面，谁的账号就会被使用，请在私聊中发送 /mcp login。",
  mcpOnPage: (server) =>
    `其他人可能看到本对话，请在“MCP 服务器”页面上登录 ${server}，或运行 \`signalbox mcp login ${server}\`。`,
  mcpSignIn: (server, issuer, url) => `请在 10 分钟内打开以下页面，通过 ${issuer} 登录 ${server}：\n${url}`,
  mcpForeignIssuer: (server, issuer) =>
    `${server} 要求在另一个网站登录：${issuer}\n如果信任该网站，请发送：/mcp login ${server} ${issuer}`,
  mcpNotStarted: (server, reason) => `无法开始登录 ${server}：${reason}`,
  mcpSignedOut(server, { wasSignedIn, isRevoked }) {
    if (!wasSignedIn) return `${server} 没有登录记录。`;
    return isRevoked
      ? `已退出 ${server}。`
      : `已退出 ${server}，但对方没有确认撤销授权，可以到该服务的账号设置中检查。`;
  },
  trustOnMachine: (path) => `${path} 太长，无法在聊天中显示。请用 \`signalbox trust\` 查看。`,
  trusted: (path) => `已信任 ${path}，视同由你本人写入。`,
  notTrusted: {
    received: (path, folder) => `${path} 来自收到的消息。请先将其复制到 ${folder}/ 之外，再信任副本。`,
    nothing: (path) => `${path} 中没有他人写入的内容。`,
    inFolder: (folder) => `${folder} 的内容全部由他人写入，请改为信任该文件夹。`,
    outside: (path) => `${path} 不在工作区内，请使用相对于工作区的路径。`,
    missing: (path) => `${path} 不存在。`,
    unusable: (path) => `${path} 无法使用。`,
    tooLarge: (path) => `${path} 内容过多，无法一次查看，请分批信任。`,
    review: (path) => `请查看 ${path} 的内容，确认信任后发送：`,
    changed: (path) => `${path} 与你查看过的内容不同，请重新查看：`,
  },

  noApprovalWaits: "没有待审批的工具调用。",
  noApproval: (id) => `没有编号为 ${id} 的待处理审批。`,
  notDecided: {
    unknown: (id) => `没有编号为 ${id} 的审批。`,
    decided: (id) => `审批 ${id} 已有结果。`,
    expired: (id) => `审批 ${id} 已过期。`,
  },
  noAllowRule: (id) => `审批 ${id}：该操作无法设为长期规则，请选择仅允许一次或拒绝。`,
  decided: (decision, tool, id) =>
    `${{ allow: "已允许", "allow-always": "已设为始终允许", deny: "已拒绝" }[decision]}：${tool}，审批 ${id}。`,
  question: (facts) =>
    [
      `审批 ${facts.id}：智能体 ${facts.agent} 要使用 ${facts.tool}。${facts.reason}`,
      ...(facts.requester === undefined ? [] : [facts.requester]),
      facts.action,
      ...(facts.program === undefined ? [] : [`程序：${facts.program}`]),
      ...(facts.folder === undefined ? [] : [`目录：${facts.folder}`]),
      ...(facts.hosts.length === 0 ? [] : [`可访问：${facts.hosts.join("、")}`]),
      ...(facts.files.length === 0 ? [] : [`涉及的文件（当前内容）：${facts.files.join("、")}`]),
      ...(facts.environment.length === 0 ? [] : [`环境变量：${facts.environment.join(" ")}`]),
      ...(facts.isComplete ? [] : [`其余内容与每次调用相同，可发送 /approve ${facts.id} 查看。`]),
      `请所有者在 ${facts.until} 前处理${facts.answers.length === 0 ? "。" : "："}`,
      ...facts.answers,
    ].join("\n"),
  requestedBy({ person, isAutomatic, channel, conversation }) {
    const place = conversation === undefined ? `${channel} 私聊` : `${channel} 的 ${conversation}`;
    return isAutomatic
      ? `由定时任务等自动触发，相关用户 ${person}，来自${place}。`
      : `由 ${person} 在${place}中发起。`;
  },
  actionForOwners: (id) => `具体内容仅所有者可见：可在网页上查看，或在私聊中发送 /approve ${id}。`,
  waitsForOwner: (id, tool) => `审批 ${id}：需要使用 ${tool}，正在等待所有者批准。`,
  allow: "允许",
  allowAlways: "始终允许",
  deny: "拒绝",
  allowed: "已允许。",
  denied: "已拒绝。",
  undecided: "已过期。",

  sayTheAnswer: "用法：/answer <编号> <答案>",
  noQuestion: (id) => `没有编号为 ${id} 的待回答问题。`,
  questionOfOthers: "该问题需由其他人回答。",
  questionOver: "该问题已无需回答。",
  byNumber: "可回复数字，也可直接输入回答。",
  answer: "回答",
  otherAnswer: "其他回答",
  answered: (text) => `已回答：${text}`,
  needsNoAnswer: "已无需回答。",
  nobodyAnswered: "无人及时回答。",

  compacted(replaced, messages, tokens, byModel) {
    const by = byModel ? "" : "模型未能及时生成摘要，此处仅列出原有内容。";
    return `已用摘要代替 ${messages} 条消息中的 ${replaced} 条（此前约 ${tokens} 词元）。${by}`;
  },
  nothingToCompact: "暂无可压缩的内容。",
  noUsableModel: (agent) => `智能体 ${agent} 没有可用的模型。`,
  mayNotUseTool: (tool) => `你没有在此使用工具 ${tool} 的权限。`,
  noPlainText: (tool) => `工具 ${tool} 不能以纯文本参数调用。`,
  outcomeUnknown: "执行期间网关重启，操作可能已生效，也可能未生效。重试前请先检查。",

  stoppedMark: "（已停止）",
  cutMark: "……（回答因达到模型的输出上限而被截断）",
  declined: "模型拒绝回答。",
  limitReached: (limit) => `（已停止：本次运行达到上限 ${limit}。）`,
  repeated: "（已停止：本次运行反复执行同一步骤。）",
  waitsForApproval: "（等待审批。）",
  unspoken: (tools) => `（未能得到答案：${tools.join("、")} 调用失败。请重试，或换个问题。）`,
  emptyAnswer: "（模型未返回文字回答。请重试，或换个说法。）",

  failed: {
    poison: "这条消息多次导致网关崩溃，已跳过。请换个说法。",
    noAgent: "此对话的智能体已不可用。",
    notSetUp: "抱歉，该智能体尚未配置完成，无法回答。管理员可在日志中查看原因。",
    internal: "抱歉，网关内部出错，详情请查看日志。",
    account: "抱歉，无法回答：模型服务商拒绝了本网关的账户。所有者可发送 /why 查看原因。",
    budget: "抱歉，无法回答：预算已用完。发送 /usage 可查看重置时间。",
    overloaded: "抱歉，无法回答：模型服务商负载过高，请稍后再试。",
    rateLimit: "抱歉，无法回答：已达到模型服务商的调用频率上限，请几分钟后再试。",
    invalid: "抱歉，无法回答：模型服务商拒绝了该请求，重试无效。所有者可发送 /why 查看原因。",
    overflow: "抱歉，无法回答：当前对话过长，超出模型的上下文长度。请用 /new 开始新对话。",
    unreachable: "抱歉，无法回答：无法连接模型服务商，请稍后再试。",
    model: "抱歉，无法回答：模型服务商返回错误，请重试。",
  },
  tooManyWait: (dropped, cap) =>
    dropped === "old"
      ? `等待处理的消息过多（超过 ${cap} 条），暂时跳过最早的消息。如仍需处理，请重新发送。`
      : `等待处理的消息过多（超过 ${cap} 条），暂时跳过新消息，请稍后重新发送。`,

  pairing: (code) => `配对码：${code}。请将其交给本助手的所有者，由其批准后即可对话。配对码十分钟内有效。`,
  personWaits: (place) =>
    `有人在 ${place} 上申请与助手对话。运行 \`signalbox pairing list\` 可查看申请人。如果你认识对方，请索取配对码，再运行 \`signalbox pairing approve <code>\` 批准。`,
  paired: "你现在可以与本助手对话了。",

  expired: (count, begun) =>
    count > 1
      ? `有 ${count} 条回答未能及时送达，内容已过时，因此未发送。如仍需要，请重新提问。`
      : `${begun ? "一条回答的其余部分" : "一条回答"}未能及时送达，内容已过时，因此未发送。如仍需要，请重新提问。`,
  notTaken: "有一条回复无法发送到此聊天，管理员可查看原因。",
  perhapsSent: "回复已发出，但无法确认是否送达。如果没有看到，请重新提问。",
  fileNotSent: (name, why) => `[文件：${name} 未发送：${why}]`,
  whyNotSent: {
    refused: "被平台拒绝",
    givenUp: "上传失败",
    noAttachments: "该渠道不支持附件",
    tooMany: (most) => `一条消息最多包含 ${most} 个附件`,
    forbidden: "不允许发送",
    notFetched: "不允许下载该文件",
    empty: "文件为空",
    page: "内容是网页",
    noFile: "文件不存在",
    noPlainFile: "不是普通文件",
    outside: "不在智能体的工作区内",
    unreadable: "无法读取",
    tooLarge: (size, most) => `大小为 ${size}，此处最多可发送 ${most}`,
    noSuchKind: (mimeType) => `此处不支持发送 ${mimeType} 文件`,
  },
  notTriggered: ({ platform, place, windowMs, id }) =>
    `${place} 上的一个定时任务或心跳没有执行：${platform} 只接受对方最后一条消息之后 ${hoursOrMinutes(windowMs)}内的消息，现在已经超时。请让对方先发一条消息。\`signalbox why ${id}\` 可以查看详情。`,
  missed: ({ place, from, to }) =>
    `${place} 可能漏收了 ${from} 到 ${to} 之间的消息，因为网关没有正常停止，或者连接中断过。平台不会再次发送这些消息。`,
  givenUp(counts, more) {
    const sum = counts.reduce((all, { count }) => all + count, 0);
    const list = counts.map(
      ({ count, state, account }) => `${account} ${STATES.get(state) ?? state} ${count} 条`,
    );
    return `${more ? "超过 " : ""}${sum} 条回复未送达：${list.join("、")}。用 \`signalbox outbox list\` 可查看详情和原因。`;
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

function hoursOrMinutes(ms: number): string {
  return ms % 3_600_000 === 0 ? `${ms / 3_600_000} 小时` : `${Math.round(ms / 60_000)} 分钟`;
}

function nameAndId({ id, name }: NamedAgent): string {
  return name === id ? id : `${name}（${id}）`;
}

function duration(ms: number): string {
  const { unit, value, minutes } = spanOf(ms);
  return unit === "h" ? `${value} 小时 ${minutes} 分钟` : `${value} ${UNITS[unit]}`;
}

const MCP_STATES = {
  "not started": "尚未启动",
  starting: "正在启动",
  ready: "可用",
  down: "不可用",
} as const;

function amount(unit: BudgetFacts["unit"], value: number): string {
  return unit === "tokens" ? `${count(value)} 词元` : shortDollars(value);
}

function budget({ of, name, roles, unit, limit, per }: BudgetFacts): string {
  const whose = of === "all" ? WHOSE.all : name === undefined ? `每个${WHOSE[of]}` : `${WHOSE[of]} ${name}`;
  const who = roles === undefined ? whose : `${whose}（${roles.join("、")}）`;
  return `${who}，每${per === "day" ? "天" : "月"} ${amount(unit, limit)}`;
}
