/** The pages for owners and what the fake gateway answers for them. The tests of all pages read this list. */
import type { Routes } from "../routes.ts";
import { ADMIN_ROUTES } from "./admin.ts";

export interface PageData {
  /** Path of the page. */
  path: string;
  /** Title of the page. */
  title: string;
  /** A text of somebody else on the page, which appears when its data is loaded. */
  text: string;
}

/** Every page in the list of `src/pages.ts`, and the pages that belong to them. */
export const PAGE_DATA: readonly PageData[] = [
  { path: "/activity", title: "Activity", text: "npm run watch" },
  { path: "/messages", title: "Messages", text: "把昨天的会议纪要整理成表格" },
  { path: "/message/01KABC", title: "Message", text: "refused the key" },
  { path: "/sessions", title: "Sessions", text: "会议纪要" },
  { path: "/session/agent%3Acoder%3Afeishu%3Adirect%3Aou_zhang", title: "会议纪要", text: "结论" },
  { path: "/usage", title: "Usage", text: "2026-11-21" },
  { path: "/people", title: "People", text: "张三" },
  { path: "/approvals", title: "Approvals", text: "/home/me/project" },
  { path: "/setup", title: "Setup", text: "anthropic/claude-sonnet-4-6" },
  { path: "/channels", title: "Channels", text: "the token is wrong" },
  { path: "/agents", title: "Agents", text: "代码助手" },
  { path: "/agent/coder", title: "代码助手", text: "The list allows it." },
  { path: "/models", title: "Models", text: "claude-haiku" },
  { path: "/skills", title: "Skills", text: "It is new." },
  { path: "/memory", title: "Memory", text: "340" },
  { path: "/mcp", title: "MCP servers", text: "npx @example/files" },
  { path: "/schedules", title: "Schedules", text: "总结昨天的会议" },
  { path: "/configuration", title: "Configuration", text: "/home/me/.signalbox/signalbox.yaml" },
  { path: "/outbox", title: "Outbox", text: "会议纪要如下" },
  { path: "/health", title: "Health", text: "0.4 GB free" },
  { path: "/logs", title: "Logs", text: "telegram/bot" },
  { path: "/audit", title: "Audit log", text: "exec" },
  { path: "/tokens", title: "Tokens", text: "laptop" },
];

/** Responses for pages whose data is not part of `owners.ts`. */
export const ROUTES: Routes = ADMIN_ROUTES;
