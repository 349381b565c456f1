import { defineConfig } from "vitepress";
import { headingId } from "../src/links.ts";
import { GROUPS, GROUPS_IN_CHINESE, type PageGroup } from "../src/pages.ts";

const OUTLINE: [number, number] = [2, 3];

function sidebar(groups: readonly PageGroup[]) {
  return groups.map(({ title, pages }) => ({
    text: title,
    items: pages.map((page) => ({ text: page.title, link: `/${page.route.replace(/index$/, "")}` })),
  }));
}

/** What the theme says by itself. */
const CHINESE = {
  outline: { level: OUTLINE, label: "本页内容" },
  docFooter: { prev: "上一页", next: "下一页" },
  sidebarMenuLabel: "目录",
  returnToTopLabel: "回到顶部",
  langMenuLabel: "语言",
  darkModeSwitchLabel: "外观",
};

export default defineConfig({
  title: "Signalbox",
  description: "A self-hosted gateway between chat platforms and LLM agents",
  srcDir: "dist/pages",
  outDir: "dist/site",
  cacheDir: "dist/cache",
  // A link that leads nowhere ends the build; so do tests for anchors, which VitePress does not follow.
  ignoreDeadLinks: false,
  // Braces in the documents are text, also in inline code, which Vue would evaluate.
  markdown: {
    anchor: { slugify: headingId },
    attrs: { disable: true },
    config(md) {
      md.core.ruler.push("inline-code-is-text", ({ tokens }) => {
        for (const { children } of tokens)
          for (const token of children ?? []) if (token.type === "code_inline") token.attrSet("v-pre", "");
      });
    },
  },
  locales: {
    root: { label: "English", lang: "en" },
    zh: { label: "中文", lang: "zh-CN", themeConfig: { sidebar: sidebar(GROUPS_IN_CHINESE), ...CHINESE } },
  },
  themeConfig: {
    sidebar: sidebar(GROUPS),
    outline: OUTLINE,
    search: { provider: "local" },
    // Few pages are there in both languages.
    i18nRouting: false,
  },
});
