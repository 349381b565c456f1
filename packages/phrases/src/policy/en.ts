import type { RoleName } from "../facts.ts";

export const ROLES: Readonly<Record<RoleName, string>> = {
  owner: "an owner",
  member: "a member",
  guest: "a guest",
  system: "the gateway itself",
};

/**
 * Reasons why a tool call is allowed, denied or needs approval. `whose` is the agent, role, conversation or model of a
 * rule.
 */
export const policy = {
  whose: {
    agent: (id: string) => `the agent ${id}`,
    role: (role: RoleName): string => ROLES[role],
    channel: (kind: string) => `a ${kind} conversation`,
    group: (id: string) => `the group ${id}`,
    model: (name: string) => `the model ${name}`,
    parent: "the parent run",
  },
  allowed: (tool: string, agent: string, role: RoleName) =>
    `${tool} is allowed for the agent ${agent} and ${ROLES[role]}.`,
  denied: (tool: string, whose: string) => `${tool} is denied for ${whose}.`,
  notListed: (tool: string, whose: string) => `${tool} is not among the tools of ${whose}.`,
  asks: (tool: string, whose: string) => `${tool} needs approval for ${whose}.`,
  gone: "Whoever asked for this is no longer allowed to ask for anything here.",
  always: (tool: string) => `The configuration requires approval for every use of ${tool}.`,
  unlisted: (tool: string) =>
    `The configuration requires approval for ${tool} unless an allow rule covers it.`,
  tainted: (tool: string, sources: readonly string[]) =>
    `The configuration requires approval for ${tool} after content from ${sources.join(", ")}.`,
  /** Effects of a call, as the second half of the sentences below. */
  claims: {
    read_identity: (detail: string) => `read the agent's own notes (${detail})`,
    write_identity: (detail: string) => `change the agent's own notes (${detail})`,
    forget_memory: (detail: string) => `remove from memory: ${detail}`,
    exec_network: (detail: string) => `run a program that can reach the network (${detail})`,
    message_elsewhere: (detail: string) => `write to another conversation (${detail})`,
    read_elsewhere: (detail: string) => `read other conversations (${detail})`,
    schedule: (detail: string) => `change what runs on a schedule (${detail})`,
    fetch_unseen: (detail: string) => `fetch an address that nobody gave it (${detail})`,
    operate_page: (detail: string) => `operate a page in the browser (${detail})`,
    save_download: (detail: string) => `save a file that a page offered (${detail})`,
    read_config: (detail: string) => `inspect the gateway and its configuration (${detail})`,
    configure: (detail: string) => `change the gateway's configuration (${detail})`,
  },
  guestMayNot: (what: string) => `A guest may not ${what}.`,
  hasSeen: (sources: readonly string[], what: string) =>
    `This run has seen content from ${sources.join(", ")}, so it needs approval to ${what}.`,
  everybodyAsks: (what: string) => `Everyone needs approval to ${what}.`,
  roleAsks(role: RoleName, what: string): string {
    const who = ROLES[role];
    return `${who.charAt(0).toUpperCase()}${who.slice(1)} needs approval to ${what}.`;
  },
};
