import type { Edit } from "../../mutants/mutants.ts";
import type { AttackKind } from "./attacks.ts";

/** What holds attacks of a kind in a gateway, and the change of what was built that takes it away. */
export interface GatewayDefence {
  readonly name: string;
  readonly kind: AttackKind;
  readonly edits: readonly Edit[];
}

const GATEWAY = "apps/gateway/src";
const TOOLS = "packages/tools/src";

export const GATEWAY_DEFENCES: readonly GatewayDefence[] = [
  {
    name: "a gate that fails denies",
    kind: "hooks",
    edits: [
      {
        file: "apps/gateway/src/hooks/hooks.ts",
        from: 'return { action: "deny", reason: `The check ${hook.name} failed.` };',
        to: "continue;",
      },
    ],
  },
  {
    name: "a sub-agent has seen what its parent has",
    kind: "sub-agents",
    edits: [
      {
        file: `${GATEWAY}/pipeline/5-prepare/prepare.ts`,
        from: "for (const source of delegated?.taint ?? [])",
        to: "for (const source of delegated?.nothing ?? [])",
      },
    ],
  },
  {
    name: "what a server says taints the run",
    kind: "plugin tools",
    edits: [
      {
        file: "apps/gateway/src/agent/additional-tools.ts",
        from: 'fromTool(tool, { taints: "mcp" })',
        to: "fromTool(tool, {})",
      },
    ],
  },
  {
    name: "what the agent is, is read-only to commands of others",
    kind: "background commands",
    edits: [
      {
        file: `${TOOLS}/exec.ts`,
        from: 'const isOwners = role === "owner" && taint.length === 0;',
        to: 'const isOwners = role !== "system" && taint.length < 99;',
      },
    ],
  },
  {
    name: "a conversation has its own commands",
    kind: "background commands",
    edits: [
      {
        file: `${TOOLS}/background/processes.ts`,
        from: "list: (sessionKey) => all.filter((process) => process.sessionKey === sessionKey),",
        to: "list: () => all.filter(() => true),",
      },
    ],
  },
  {
    name: "other conversations are reached by owners",
    kind: "other conversations",
    edits: [
      {
        file: `${TOOLS}/policy.ts`,
        from: "...input.claims.map((claim) => decideByClaim(claim, facts, texts)),",
        to: "",
      },
    ],
  },
  {
    name: "what runs by itself is changed by owners",
    kind: "schedules",
    edits: [
      {
        file: `${TOOLS}/policy.ts`,
        from: "...input.claims.map((claim) => decideByClaim(claim, facts, texts)),",
        to: "",
      },
    ],
  },
];
