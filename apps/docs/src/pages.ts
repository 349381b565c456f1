import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The folder of the repository. */
export const ROOT: string = fileURLToPath(new URL("../../..", import.meta.url));

/** A document of the repository and its place on the site. */
export interface Page {
  /** In the repository. */
  readonly source: string;
  /** On the site, without ending. */
  readonly route: string;
  readonly title: string;
}

export interface PageGroup {
  readonly title: string;
  readonly pages: readonly Page[];
}

const HOME: Page = { source: "README.md", route: "index", title: "Signalbox" };
const HOME_IN_CHINESE: Page = { source: "README.zh.md", route: "zh/index", title: "Signalbox" };

export const GROUPS: readonly PageGroup[] = [
  {
    title: "Begin",
    pages: [HOME, doc("first-hour", "The first hour"), doc("concepts", "How it works")],
  },
  {
    title: "Channels",
    pages: [
      doc("channels", "Comparison"),
      ...["discord", "feishu", "slack", "telegram", "web"].map((name) =>
        readme("packages", `channel-${name}`, titleOf(name)),
      ),
      doc("writing-a-channel", "Writing one"),
    ],
  },
  {
    title: "Agents",
    pages: [
      doc("tools", "Built-in tools"),
      doc("automation", "Automation"),
      doc("hooks", "Hooks"),
      doc("costs", "Costs and budgets"),
    ],
  },
  {
    title: "Reference",
    pages: [
      doc("configuration", "Configuration"),
      doc("commands", "Commands"),
      doc("roles-and-rules", "Roles and rules"),
    ],
  },
  {
    title: "Running it",
    pages: [
      doc("operations", "Operations"),
      doc("security", "Security"),
      readme("apps", "gateway", "The gateway"),
    ],
  },
  {
    title: "The code",
    pages: [
      doc("architecture", "Architecture"),
      { source: "CONTRIBUTING.md", route: "contributing", title: "Contributing" },
      ...["console", "docs"].map((name) => readme("apps", name, name)),
      ...packagesWithoutChannels().map((name) => readme("packages", name, name)),
    ],
  },
];

export const GROUPS_IN_CHINESE: readonly PageGroup[] = [
  {
    title: "开始",
    pages: [
      HOME_IN_CHINESE,
      { source: "docs/first-hour.zh.md", route: "zh/first-hour", title: "第一个小时" },
    ],
  },
];

export const PAGES: readonly Page[] = [...GROUPS, ...GROUPS_IN_CHINESE].flatMap(({ pages }) => pages);

function doc(name: string, title: string): Page {
  return { source: `docs/${name}.md`, route: name, title };
}

function readme(parent: "packages" | "apps", name: string, title: string): Page {
  return { source: `${parent}/${name}/README.md`, route: `packages/${name}`, title };
}

function titleOf(name: string): string {
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
}

function packagesWithoutChannels(): string[] {
  return readdirSync(join(ROOT, "packages")).filter(
    (name) => !name.startsWith("channel-") && existsSync(join(ROOT, "packages", name, "README.md")),
  );
}
