import type { Theme } from "vitepress";
import DefaultTheme from "vitepress/theme";
import "./style.css";
import { syncCodeTabs } from "./sync-code-tabs.ts";

const theme: Theme = {
  extends: DefaultTheme,
  setup() {
    if (typeof document !== "undefined") syncCodeTabs(document, localStorage);
  },
};
export default theme;
