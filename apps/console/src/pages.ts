import {
  IconActivity,
  IconBrain,
  IconChartBar,
  IconClock,
  IconCpu,
  IconFileText,
  IconHeartbeat,
  IconKey,
  IconListDetails,
  IconMessages,
  IconPlug,
  IconPlugConnected,
  IconPuzzle,
  IconRobot,
  IconSend,
  IconSettings,
  IconShieldCheck,
  IconStack2,
  IconUsers,
  IconWand,
} from "@tabler/icons-react";

/**
 * The pages for owners, in the order of the navigation. The navigation, the command palette and the shortcuts read this
 * list. The title of a page is the text with its id in `words/en.ts`.
 *
 * - `key`: second key of the shortcut that opens the page, after `g`
 * - `search`: search parameters of a link to the page
 * - `parts`: paths of pages that belong to it, which highlight its entry
 */
export const PAGES = [
  { id: "activity", to: "/activity", group: "watch", icon: IconActivity, key: "a" },
  { id: "messages", to: "/messages", group: "watch", icon: IconMessages, key: "m", parts: ["/message/"] },
  { id: "sessions", to: "/sessions", group: "watch", icon: IconStack2, key: "s", parts: ["/session/"] },
  { id: "usage", to: "/usage", group: "watch", icon: IconChartBar, key: "u" },
  { id: "people", to: "/people", group: "people", icon: IconUsers, key: "p" },
  { id: "approvals", to: "/approvals", group: "people", icon: IconShieldCheck, key: "v" },
  { id: "agents", to: "/agents", group: "agents", icon: IconRobot, key: "n", parts: ["/agent/"] },
  { id: "models", to: "/models", group: "agents", icon: IconCpu, key: "d" },
  { id: "skills", to: "/skills", group: "agents", icon: IconPuzzle, key: "k" },
  { id: "memory", to: "/memory", group: "agents", icon: IconBrain, key: "y" },
  { id: "mcp", to: "/mcp", group: "agents", icon: IconPlug, key: "t" },
  { id: "schedules", to: "/schedules", group: "agents", icon: IconClock, key: "e" },
  { id: "setup", to: "/setup", group: "system", icon: IconWand, key: "w" },
  { id: "channels", to: "/channels", group: "system", icon: IconPlugConnected, key: "c" },
  { id: "configuration", to: "/configuration", group: "system", icon: IconSettings, key: "f" },
  { id: "outbox", to: "/outbox", group: "system", icon: IconSend, key: "o" },
  { id: "health", to: "/health", group: "system", icon: IconHeartbeat, key: "b" },
  { id: "logs", to: "/logs", group: "system", icon: IconFileText, key: "l" },
  { id: "audit", to: "/audit", group: "system", icon: IconListDetails, key: "i" },
  { id: "tokens", to: "/tokens", group: "system", icon: IconKey, key: "q" },
] as const;

export type PageEntry = (typeof PAGES)[number];

/** The groups of the navigation, in order. */
export const GROUPS = ["watch", "people", "agents", "system"] as const;

/** Returns true if a page, or one of its parts, is at this path. */
export function isAt(page: PageEntry, path: string): boolean {
  const parts: readonly string[] = "parts" in page ? page.parts : [];
  return path === page.to || path.startsWith(`${page.to}/`) || parts.some((part) => path.startsWith(part));
}
