export const AGENT_TABS = ["tools", "skills", "files", "prompt"] as const;
type AgentTab = (typeof AGENT_TABS)[number];

export interface AgentSearch {
  tab?: AgentTab;
  /** Open folder or file in the workspace. */
  path?: string;
}

export function readAgentSearch(search: Record<string, unknown>): AgentSearch {
  const tab = AGENT_TABS.find((each) => each === search["tab"]);
  const path = typeof search["path"] === "string" ? search["path"].slice(0, 1_000) : undefined;
  return { ...(tab && { tab }), ...(path !== undefined && { path }) };
}
