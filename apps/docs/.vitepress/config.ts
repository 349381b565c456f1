import { type DefaultTheme, defineConfig } from "vitepress";
import { createHeadingId } from "../src/links.ts";
import { GROUPS } from "../src/pages.ts";
import { getRepositoryUrl } from "../src/repository.ts";
import { tokenize } from "../src/search.ts";

const OUTLINE: [number, number] = [2, 3];
const repository = getRepositoryUrl();
const SOCIAL_LINKS: DefaultTheme.SocialLink[] =
  repository === undefined
    ? []
    : [{ icon: repository.includes("github.com") ? "github" : "git", link: repository }];

function createSidebar(language: "en" | "zh"): DefaultTheme.SidebarItem[] {
  const prefix = language === "en" ? "/" : "/zh/";
  const groups = GROUPS.map(({ title, zhTitle, pages, collapsed = false }) => ({
    text: language === "en" ? title : zhTitle,
    collapsed,
    items: pages.map((page) => ({
      text: language === "en" ? page.title : page.zhTitle,
      link: `${prefix}${page.route}`,
    })),
  }));
  const api = { text: language === "en" ? "API of the packages" : "各个包的 API", link: "/api/" };
  return groups.map((group) =>
    group.text === "Reference" || group.text === "参考" ? { ...group, items: [...group.items, api] } : group,
  );
}

const ENGLISH: DefaultTheme.Config = {
  sidebar: createSidebar("en"),
  nav: [
    { text: "Guide", link: "/guides/install", activeMatch: "^/(guides/install|first-hour|concepts)" },
    {
      text: "Platforms",
      link: "/channels",
      activeMatch:
        "^/(channels|guides/(feishu|dingtalk|slack|discord|telegram|imessage|wecom|signal|whatsapp))",
    },
    { text: "Configuration", link: "/configuration" },
    { text: "Reference", link: "/commands", activeMatch: "^/(commands|tools|http-api|api/)" },
  ],
  editLink: { pattern: ({ frontmatter }) => String(frontmatter["editUrl"]), text: "Edit this page" },
  outline: OUTLINE,
};

const CHINESE: DefaultTheme.Config = {
  sidebar: createSidebar("zh"),
  nav: [
    { text: "指南", link: "/zh/guides/install", activeMatch: "^/zh/(guides/install|first-hour|concepts)" },
    {
      text: "平台",
      link: "/zh/channels",
      activeMatch:
        "^/zh/(channels|guides/(feishu|dingtalk|slack|discord|telegram|imessage|wecom|signal|whatsapp))",
    },
    { text: "配置", link: "/zh/configuration" },
    { text: "参考", link: "/zh/commands", activeMatch: "^/zh/(commands|tools|http-api)" },
  ],
  editLink: { pattern: ({ frontmatter }) => String(frontmatter["editUrl"]), text: "编辑此页" },
  outline: { level: OUTLINE, label: "本页内容" },
  docFooter: { prev: "上一页", next: "下一页" },
  sidebarMenuLabel: "目录",
  returnToTopLabel: "回到顶部",
  langMenuLabel: "语言",
  darkModeSwitchLabel: "外观",
  lightModeSwitchTitle: "切换到浅色模式",
  darkModeSwitchTitle: "切换到深色模式",
  skipToContentLabel: "跳到正文",
};

export default defineConfig({
  title: "Signalbox",
  titleTemplate: ":title | Signalbox",
  description: "A self-hosted gateway between chat platforms and LLM agents",
  head: [["link", { rel: "icon", href: "/icon.svg", type: "image/svg+xml" }]],
  srcDir: "dist/pages",
  outDir: "dist/site",
  cacheDir: "dist/cache",
  // A dead link fails the build. VitePress does not check anchors; a test does.
  ignoreDeadLinks: false,
  // esbuild does not know the `target` of the repository's tsconfig.
  vite: { esbuild: { tsconfigRaw: {} } },
  markdown: {
    anchor: { slugify: createHeadingId },
    attrs: { disable: true },
    config(md) {
      // Vue would evaluate double braces in inline code.
      md.core.ruler.push("inline-code-is-text", ({ tokens }) => {
        tokens.forEach(({ children }, at) => {
          const isInTable = tokens[at - 1]?.type === "td_open";
          for (const token of children ?? []) {
            if (token.type !== "code_inline") continue;
            token.attrSet("v-pre", "");
            token.meta = { isInTable };
          }
        });
      });
      // Names in tables, such as keys of the configuration, wrap after their dots.
      const renderCode = md.renderer.rules.code_inline;
      md.renderer.rules.code_inline = (tokens, at, ...rest) => {
        const html = renderCode?.(tokens, at, ...rest) ?? "";
        return tokens[at]?.meta?.isInTable === true ? html.replace(/\.(?=[\w*<&])/g, ".<wbr>") : html;
      };
    },
  },
  locales: {
    root: { label: "English", lang: "en", themeConfig: ENGLISH },
    zh: {
      label: "中文",
      lang: "zh-CN",
      description: "连接聊天平台与大模型智能体的自托管网关",
      themeConfig: CHINESE,
    },
  },
  transformPageData(page) {
    // Without a repository there is nothing to edit.
    if (page.frontmatter["editUrl"] === undefined) page.frontmatter["editLink"] = false;
  },
  themeConfig: {
    logo: { light: "/icon.svg", dark: "/icon-dark.svg" },
    socialLinks: SOCIAL_LINKS,
    search: {
      provider: "local",
      options: {
        miniSearch: {
          options: { tokenize },
          searchOptions: { combineWith: "AND", prefix: true, fuzzy: 0.1 },
        },
        locales: {
          zh: {
            translations: {
              button: { buttonText: "搜索", buttonAriaLabel: "搜索文档" },
              modal: {
                displayDetails: "显示详情",
                resetButtonTitle: "清除",
                backButtonTitle: "关闭",
                noResultsText: "没有找到结果",
                footer: { selectText: "选择", navigateText: "切换", closeText: "关闭" },
              },
            },
          },
        },
      },
    },
  },
});
