import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Root folder of the repository. */
export const ROOT: string = fileURLToPath(new URL("../../..", import.meta.url));

/** A document of the repository and its place on the site. */
export interface Page {
  /** Path in the repository. */
  readonly source: string;
  /** Path on the site, without extension. */
  readonly route: string;
  readonly title: string;
  /** Title in Chinese. */
  readonly zhTitle: string;
}

export interface PageGroup {
  readonly title: string;
  readonly zhTitle: string;
  readonly pages: readonly Page[];
  /** The sidebar shows only the title until it is clicked. */
  readonly collapsed?: true;
}

export const HOME: Page = {
  source: "docs/index.md",
  route: "index",
  title: "Signalbox",
  zhTitle: "Signalbox",
};

export const GROUPS: readonly PageGroup[] = [
  {
    title: "Get started",
    zhTitle: "开始",
    pages: [
      doc("guides/install", "Install", "安装"),
      doc("first-hour", "The first hour", "快速上手"),
      doc("concepts", "How it works", "工作原理"),
      doc("guides/configuration", "Configure", "配置概览"),
      doc("guides/openclaw", "Move from OpenClaw", "从 OpenClaw 迁移"),
    ],
  },
  {
    title: "Platforms",
    zhTitle: "平台",
    pages: [
      doc("guides/feishu", "Feishu and Lark", "飞书"),
      doc("guides/dingtalk", "DingTalk", "钉钉"),
      doc("guides/slack", "Slack", "Slack"),
      doc("guides/discord", "Discord", "Discord"),
      doc("guides/telegram", "Telegram", "Telegram"),
      doc("guides/imessage", "iMessage", "iMessage"),
      doc("guides/wecom", "WeCom", "企业微信"),
      doc("guides/signal", "Signal", "Signal"),
      doc("guides/whatsapp", "WhatsApp", "WhatsApp"),
      doc("channels", "Comparison", "渠道对比"),
    ],
  },
  {
    title: "Agents",
    zhTitle: "智能体",
    pages: [
      doc("guides/models", "Models and local servers", "模型与本地服务"),
      doc("guides/subscriptions", "Subscriptions", "使用订阅"),
      doc("guides/skills", "Skills", "技能"),
      doc("guides/mcp", "MCP servers", "MCP 服务器"),
      doc("guides/mcp-server", "The gateway as an MCP server", "把网关用作 MCP 服务器"),
      doc("guides/documents", "Documents", "文档附件"),
      doc("guides/images", "Generating images", "生成图片"),
      doc("guides/voice", "Voice", "语音"),
      doc("guides/browser", "Browser", "浏览器"),
      doc("guides/memory", "Memory", "记忆"),
      doc("automation", "Schedules and sub-agents", "定时任务与子智能体"),
      doc("costs", "Costs and budgets", "费用与预算"),
      doc("hooks", "Hooks", "钩子"),
    ],
  },
  {
    title: "Operate",
    zhTitle: "运维",
    pages: [
      doc("operations", "Operations", "运维"),
      doc("security", "Security", "安全"),
      doc("guides/company-sign-in", "Company sign-in", "公司账号登录"),
      doc("roles-and-rules", "Roles and rules", "角色与规则"),
      doc("guides/scaling", "Scaling", "扩展"),
      doc("guides/several-gateways", "Several gateways", "多个网关"),
      doc("guides/monitoring", "Monitoring", "监控"),
    ],
  },
  {
    title: "Develop",
    zhTitle: "开发",
    pages: [
      doc("writing-a-channel", "Write a channel", "编写渠道"),
      doc("guides/writing-a-tool", "Write a tool", "编写工具"),
      doc("guides/packages", "Use single packages", "单独使用各个包"),
      doc("architecture", "Architecture", "架构"),
      {
        source: "CONTRIBUTING.md",
        route: "contributing",
        title: "Contributing",
        zhTitle: "参与开发",
      },
    ],
  },
  {
    title: "Reference",
    zhTitle: "参考",
    pages: [
      doc("configuration", "Configuration", "配置项"),
      doc("commands", "Commands", "命令"),
      doc("commands/service", "Commands: set up and run", "命令：安装与运行"),
      doc("commands/configuration", "Commands: configuration", "命令：配置"),
      doc("commands/conversations", "Commands: conversations", "命令：对话"),
      doc("commands/access", "Commands: access", "命令：权限与审批"),
      doc("commands/agents", "Commands: agents", "命令：智能体"),
      doc("commands/maintenance", "Commands: maintenance", "命令：数据与维护"),
      doc("tools", "Built-in tools", "内置工具"),
      doc("http-api", "HTTP API", "HTTP API"),
    ],
  },
  {
    title: "Packages",
    zhTitle: "包",
    collapsed: true,
    pages: [
      ...["gateway", "console", "docs"].map((name) => readme("apps", name)),
      ...readPackages().map((name) => readme("packages", name)),
    ],
  },
];

export const PAGES: readonly Page[] = [HOME, ...GROUPS.flatMap(({ pages }) => pages)];

/** Returns the file of the Chinese translation, or undefined if the page is not translated. */
export function findTranslation({ source }: Page): string | undefined {
  const file = source.replace(/\.md$/, ".zh.md");
  return existsSync(join(ROOT, file)) ? file : undefined;
}

/** Lists the packages of the repository. */
export function readPackages(): string[] {
  // Without the check, build output of a deleted package would count.
  return readdirSync(join(ROOT, "packages")).filter((name) =>
    existsSync(join(ROOT, "packages", name, "README.md")),
  );
}

function doc(name: string, title: string, zhTitle: string): Page {
  return { source: `docs/${name}.md`, route: name, title, zhTitle };
}

function readme(parent: "packages" | "apps", name: string): Page {
  return { source: `${parent}/${name}/README.md`, route: `packages/${name}`, title: name, zhTitle: name };
}
