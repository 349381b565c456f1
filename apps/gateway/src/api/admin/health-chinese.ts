import type { HealthFinding } from "@signalbox/protocol";

/**
 * Chinese texts of health findings by their English texts, in which `{}` stands for a value. Values stay as they are.
 */
const TEXTS: readonly (readonly [string, string])[] = [
  // Parts
  ["gateway", "网关"],
  ["running configuration", "运行中的配置"],
  ["agent {}", "智能体 {}"],
  ["channel {}", "渠道 {}"],
  ["node", "Node.js"],
  ["nodes", "节点"],
  ["node {}", "节点 {}"],
  ["home", "主目录"],
  ["permissions", "权限"],
  ["disk", "磁盘"],
  ["clock", "时钟"],
  ["time zone", "时区"],
  ["token", "令牌"],
  ["database", "数据库"],
  ["backup", "备份"],
  ["outbox", "发件箱"],
  ["prompt cache", "提示词缓存"],
  // Gateway, agents and accounts
  ["running since {}", "自 {} 起运行"],
  [
    "{} changed since the gateway started, and takes effect only after a restart",
    "{} 在网关启动后有修改，重启后才会生效",
  ],
  ["Restart the gateway.", "请重启网关。"],
  [
    "the previous values stay in effect, because the last change has errors: {}",
    "上次修改有错误，仍沿用之前的值：{}",
  ],
  [
    "Fix the errors in the configuration. The gateway applies it at once.",
    "请改正配置中的错误，网关会立即应用。",
  ],
  ["uses the offline demo model", "正在使用离线演示模型"],
  ["Set up a model.", "请设置一个模型。"],
  ["uses {}", "使用 {}"],
  ["ready", "就绪"],
  ["starting", "正在启动"],
  ["starting: {}", "正在启动：{}"],
  ["degraded", "部分可用"],
  ["degraded: {}", "部分可用：{}"],
  ["down", "已断开"],
  ["down: {}", "已断开：{}"],
  ["stopped", "已停止"],
  ["stopped: {}", "已停止：{}"],
  ["Check channels.{} and the log.", "请检查 channels.{} 和日志。"],
  ["it could not be checked: {}", "无法检查：{}"],
  // Machine
  [
    "Make it writable for this user, or choose another home with --home or SIGNALBOX_HOME.",
    "请让当前用户可以写入，或用 --home 或 SIGNALBOX_HOME 选择其他主目录。",
  ],
  ["{}, created at the first start", "{}，首次启动时创建"],
  ["others can read {}", "其他用户可以读取 {}"],
  [
    "Close them with `signalbox doctor --fix`; starting the gateway does the same.",
    "请用 `signalbox doctor --fix` 收回权限，启动网关也会收回。",
  ],
  ["{} free", "剩余 {}"],
  [
    "Free some space on the volume of {}: without it, no message can be accepted. `signalbox maintenance prune` deletes old data, but needs some free space itself.",
    "请在 {} 所在的磁盘上释放空间，否则无法接收消息。`signalbox maintenance prune` 可以删除旧数据，但它本身也需要一些空间。",
  ],
  ["{}, but the database was last written at {}", "{}，但数据库最后写入于 {}"],
  ["Set this machine's clock and keep it in sync with NTP.", "请校准本机时钟，并用 NTP 保持同步。"],
  // Stored data
  ["stored in {}", "保存在 {}"],
  [
    "not in the home: it comes from the configuration or SIGNALBOX_TOKEN, or the first start creates it",
    "不在主目录中：来自配置或 SIGNALBOX_TOKEN，或在首次启动时创建",
  ],
  ["created at the first start", "首次启动时创建"],
  ["{}, version {}, {} bytes, sound", "{}，版本 {}，{} 字节，完好"],
  ["{} is damaged: {}", "{} 已损坏：{}"],
  ["Check `store.url`, the database server and its log.", "请检查 `store.url`、数据库服务器及其日志。"],
  [
    "Stop the gateway, keep a copy of the file, and restore the latest backup with `signalbox restore {}`.",
    "请停止网关，保留文件的副本，然后用 `signalbox restore {}` 恢复最近的备份。",
  ],
  ["none has been made here", "还没有备份"],
  ["the latest is {} days old, in {}", "最近的备份在 {} 天前，位于 {}"],
  [
    "Make one with `signalbox backup <folder>`; the gateway can keep running. Store it on another machine.",
    "请用 `signalbox backup <folder>` 备份，网关无需停止。请把备份存到其他机器上。",
  ],
  ["1 reply was not delivered", "1 条回复没有送达"],
  ["{} replies were not delivered", "{} 条回复没有送达"],
  [
    "`signalbox outbox list` shows them; `outbox retry` sends one again, `outbox drop` discards it.",
    "`signalbox outbox list` 列出这些回复；`outbox retry` 重新发送，`outbox drop` 丢弃。",
  ],
  [
    "the beginning of the prompt changed in {} conversations in the last 7 days: {}",
    "最近 7 天有 {} 个会话的提示词开头发生变化：{}",
  ],
  [
    "Each change costs once. If a section changes at every turn, find out what writes it.",
    "每次变化都会多花一次费用。如果某个部分每轮都变，请找出写入它的来源。",
  ],
];

const PATTERNS = TEXTS.map(([english, chinese]) => ({
  pattern: new RegExp(
    `^${english
      .split("{}")
      .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))
      .join("(.+?)")}$`,
    "s",
  ),
  chinese,
}));

/** Returns a finding in Chinese. Texts that are not in the table, such as errors of the system, stay in English. */
export function toChinese({ part, detail, remedy, ...rest }: HealthFinding): HealthFinding {
  return {
    ...rest,
    part: translate(part),
    detail: translate(detail),
    ...(remedy === undefined ? {} : { remedy: translate(remedy) }),
  };
}

function translate(text: string): string {
  for (const { pattern, chinese } of PATTERNS) {
    const values = pattern.exec(text)?.slice(1);
    if (values === undefined) continue;
    let next = 0;
    return chinese.replaceAll("{}", () => values[next++] ?? "");
  }
  return text;
}
