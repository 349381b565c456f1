/** Chat commands that only owners may use. The gateway's table of commands decides; a test compares them. */
export const OWNER_COMMANDS: ReadonlySet<string> = new Set([
  ...["skills", "model", "think", "compact", "approve", "trust", "mcp"],
]);
