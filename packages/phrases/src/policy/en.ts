import type { RoleName } from "../facts.ts";

export const ROLES: Readonly<Record<RoleName, string>> = {
  owner: "an owner",
  member: "a member",
  guest: "a guest",
  system: "the gateway by itself",
};

/** Why a call of a tool is allowed, denied or asked about. `whose` is the agent, role, place or model of a rule. */
export const policy = {
  whose: {
    agent: (id: string) => `the agent ${id}`,
    role: (role: RoleName): string => ROLES[role],
    channel: (kind: string) => `a ${kind} conversation`,
    model: (name: string) => `the model ${name}`,
    parent: "the parent run",
  },
  allowed: (tool: string, agent: string, role: RoleName) =>
    `${tool} is allowed for the agent ${agent} and ${ROLES[role]}.`,
  denied: (tool: string, whose: string) => `${tool} is denied for ${whose}.`,
  notListed: (tool: string, whose: string) => `${tool} is not among the tools of ${whose}.`,
  asks: (tool: string, whose: string) => `${tool} needs an approval for ${whose}.`,
  gone: "Who asked for this may ask for nothing here any more.",
  always: (tool: string) => `The configuration has ${tool} asked about each time.`,
  unlisted: (tool: string) => `The configuration has ${tool} asked about where no standing rule covers it.`,
  tainted: (tool: string, sources: readonly string[]) =>
    `The configuration has ${tool} asked about after content from ${sources.join(", ")}.`,
  /** What a call reaches for: the second half of the sentences below. */
  claims: {
    "read-identity": (detail: string) => `read the agent's own notes (${detail})`,
    "write-identity": (detail: string) => `change the agent's own notes (${detail})`,
    "exec-network": (detail: string) => `run a program that can reach the network (${detail})`,
    "message-elsewhere": (detail: string) => `write to another conversation (${detail})`,
    "read-elsewhere": (detail: string) => `look into other conversations (${detail})`,
    schedule: (detail: string) => `change what runs by itself (${detail})`,
    "fetch-unseen": (detail: string) => `fetch an address that was given to it by nobody (${detail})`,
    "read-config": (detail: string) => `look into the gateway and its configuration (${detail})`,
    configure: (detail: string) => `change the gateway's configuration (${detail})`,
  },
  guestMayNot: (what: string) => `A guest may not ${what}.`,
  hasSeen: (sources: readonly string[], what: string) =>
    `This run has seen content from ${sources.join(", ")}; to ${what} it needs an approval.`,
  everybodyAsks: (what: string) => `Whoever wants to ${what} needs an approval.`,
  roleAsks(role: RoleName, what: string): string {
    const who = ROLES[role];
    return `${who.charAt(0).toUpperCase()}${who.slice(1)} needs an approval to ${what}.`;
  },
};
