import { AUDIT_KINDS } from "@signalbox/store/audit";
import { type Command, Option } from "commander";
import { type Actions, command, count } from "./command.ts";

export function addPairing(pairing: Command, { run, runOn }: Actions): void {
  command(pairing, "list", "list pending requests and paired people", ["pairing list"]).action(
    run(async () => (await import("../commands/pairing.ts")).list),
  );
  command(pairing, "approve <code>", "approve the person with this code", [
    "pairing approve K7Q2M9XA",
    "pairing approve K7Q2M9XA --owner",
  ])
    .option("--owner", "also make the person an owner, who may approve tool calls and change settings")
    .action(runOn(async () => (await import("../commands/pairing.ts")).approve));
  command(pairing, "revoke <person>", "unpair a person (channel:account:person, as in the list)", [
    "pairing revoke telegram:main:5001",
  ]).action(runOn(async () => (await import("../commands/pairing.ts")).revoke));
}

export function addTokens(tokens: Command, { run, runOn }: Actions): void {
  const role = new Option("--role <role>", "role of the token's holder")
    .choices(["owner", "operator", "viewer", "member", "monitor"])
    .default("member");
  command(tokens, "add <name>", "create a token, and show it once", [
    "tokens add laptop",
    "tokens add ci --role owner --json",
    "tokens add dashboard --role viewer",
    "tokens add prometheus --role monitor",
  ])
    .addOption(role)
    .action(runOn(async () => (await import("../commands/tokens.ts")).add));
  command(tokens, "list", "list tokens with their last use", ["tokens list"]).action(
    run(async () => (await import("../commands/tokens.ts")).list),
  );
  command(tokens, "revoke <name>", "revoke a token, and end its sessions", ["tokens revoke laptop"]).action(
    runOn(async () => (await import("../commands/tokens.ts")).revoke),
  );
  command(tokens, "sessions", "list the browsers that are signed in", ["tokens sessions"]).action(
    run(async () => (await import("../commands/web-sessions.ts")).list),
  );
  command(tokens, "sign-out <session>", "sign a browser out, or all browsers of a person or a token", [
    "tokens sign-out 3f9a2c1b",
    "tokens sign-out alice-3f9a2c1b7d4e",
  ]).action(runOn(async () => (await import("../commands/web-sessions.ts")).signOut));
}

export function addApprovals(approvals: Command, { run, runOn }: Actions): void {
  command(approvals, "list", "list tool calls that need approval", ["approvals list"]).action(
    run(async () => (await import("../commands/approvals.ts")).list),
  );
  command(approvals, "log", "list every approval request with its decision", ["approvals log --json"]).action(
    run(async () => (await import("../commands/approvals.ts")).log),
  );
  command(approvals, "allow <id>", "allow a call", ["approvals allow 3f9a"]).action(
    runOn(async () => (await import("../commands/approvals.ts")).allow),
  );
  command(
    approvals,
    "allow-always <id>",
    "allow a call, and from now on the same commands without approval",
    ["approvals allow-always 3f9a"],
  ).action(runOn(async () => (await import("../commands/approvals.ts")).allowAlways));
  command(approvals, "deny <id>", "deny a call", ["approvals deny 3f9a"]).action(
    runOn(async () => (await import("../commands/approvals.ts")).deny),
  );
}

export function addCan(program: Command, { runOnTwo }: Actions): void {
  command(
    program,
    "can <sender> <tool>",
    "check whether a person (channel:id) may use a tool, and show the rule that decides",
    ["can telegram:5001 exec", "can slack:U024BE7LH web_fetch --in slack:C061EG9SL"],
  )
    .option("--in <group>", "in this group (channel:id); default: in a direct conversation")
    .option("--account <name>", "the account of the channel", "main")
    .action(runOnTwo(async () => (await import("../commands/can.ts")).can));
}

export function addTrust(program: Command, { runOnTwo }: Actions): void {
  command(program, "trust <path> [digest]", "review and trust a workspace file or folder that others wrote", [
    "trust reports/june.md",
    "trust reports/june.md 5f2c9a1e8d3b47605f2c9a1e8d3b4760",
    "trust reports --agent coder",
  ])
    .option("--agent <id>", "agent that owns the workspace; default: the default agent")
    .action(runOnTwo(async () => (await import("../commands/trust.ts")).trust));
}

export function addAudit(audit: Command, { run }: Actions): void {
  command(audit, "list", "list the latest decisions", ["audit list --limit 20", "audit list --kind tool"])
    .addOption(new Option("--kind <kind>", "only entries of this kind").choices(AUDIT_KINDS))
    .option("--limit <count>", "maximum number to list", count, 50)
    .action(run(async () => (await import("../commands/audit.ts")).list));
  command(audit, "verify", "check that no entry was changed, removed or moved", ["audit verify"])
    .option("--head <end>", "a chain head that you saved elsewhere, as printed by this command")
    .action(run(async () => (await import("../commands/audit.ts")).verify));
}
