/** The pages for owners and what the fake gateway answers for them. The tests of all pages read this list. */
import type { Routes } from "../routes.ts";

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
  { path: "/usage", title: "Usage", text: "2026-11-21" },
  { path: "/people", title: "People", text: "张三" },
  { path: "/approvals", title: "Approvals", text: "/home/me/project" },
  { path: "/channels", title: "Channels", text: "the token is wrong" },
];

/** Responses for pages whose data is not part of `owners.ts`. */
export const ROUTES: Routes = {};
