import { AUDIT_KINDS } from "@signalbox/audit";
import { type Command, Option } from "commander";
import { type Actions, command, count } from "./command.ts";

export function addPairing(pairing: Command, { run, runOn }: Actions): void {
  command(pairing, "list", "list open requests and paired people", ["pairing list"]).action(
    run(async () => (await import("../commands/pairing.ts")).list),
  );
  command(pairing, "approve <code>", "let the person with this code talk", [
    "pairing approve K7Q2M9XA",
  ]).action(runOn(async () => (await import("../commands/pairing.ts")).approve));
  command(pairing, "revoke <person>", "unpair the person whom the list names channel:account:person", [
    "pairing revoke telegram:main:5001",
  ]).action(runOn(async () => (await import("../commands/pairing.ts")).revoke));
}

export function addTokens(tokens: Command, { run, runOn }: Actions): void {
  const role = new Option("--role <role>", "what it may do").choices(["owner", "member"]).default("member");
  command(tokens, "add <name>", "make one, and show it this once", [
    "tokens add laptop",
    "tokens add ci --role owner --json",
  ])
    .addOption(role)
    .action(runOn(async () => (await import("../commands/tokens.ts")).add));
  command(tokens, "list", "list them, with their last use", ["tokens list"]).action(
    run(async () => (await import("../commands/tokens.ts")).list),
  );
  command(tokens, "revoke <name>", "end one, and what it has opened", ["tokens revoke laptop"]).action(
    runOn(async () => (await import("../commands/tokens.ts")).revoke),
  );
}

export function addApprovals(approvals: Command, { run, runOn }: Actions): void {
  command(approvals, "list", "list them", ["approvals list"]).action(
    run(async () => (await import("../commands/approvals.ts")).list),
  );
  command(approvals, "log", "list all that was asked, with what was decided, by whom and when", [
    "approvals log --json",
  ]).action(run(async () => (await import("../commands/approvals.ts")).log));
  command(approvals, "allow <id>", "allow one", ["approvals allow 3f9a"]).action(
    runOn(async () => (await import("../commands/approvals.ts")).allow),
  );
  command(approvals, "allow-always <id>", "allow one, and the same commands unasked from now on", [
    "approvals allow-always 3f9a",
  ]).action(runOn(async () => (await import("../commands/approvals.ts")).allowAlways));
  command(approvals, "deny <id>", "deny one", ["approvals deny 3f9a"]).action(
    runOn(async () => (await import("../commands/approvals.ts")).deny),
  );
}

export function addCan(program: Command, { runOnTwo }: Actions): void {
  command(
    program,
    "can <sender> <tool>",
    "say whether somebody, named channel:id, may use a tool, and by which rule",
    ["can telegram:5001 exec", "can slack:U024BE7LH web_fetch --in slack:C061EG9SL"],
  )
    .option("--in <group>", "in a group, named channel:id; default: in a direct conversation")
    .option("--account <name>", "which bot of the channel", "main")
    .action(runOnTwo(async () => (await import("../commands/can.ts")).can));
}

export function addTrust(program: Command, { runOn }: Actions): void {
  command(program, "trust <path>", "vouch for a file or folder of a workspace that others wrote", [
    "trust reports/june.md",
    "trust reports --agent coder",
  ])
    .option("--agent <id>", "whose workspace; default: the default agent's")
    .action(runOn(async () => (await import("../commands/trust.ts")).trust));
}

export function addAudit(audit: Command, { run }: Actions): void {
  command(audit, "list", "list the latest decisions", ["audit list --limit 20", "audit list --kind tool"])
    .addOption(new Option("--kind <kind>", "only these").choices(AUDIT_KINDS))
    .option("--limit <count>", "how many", count, 50)
    .action(run(async () => (await import("../commands/audit.ts")).list));
  command(audit, "verify", "find records that were changed, removed or moved", ["audit verify"])
    .option("--head <end>", "an end of the chain that was noted elsewhere, as this command prints it")
    .action(run(async () => (await import("../commands/audit.ts")).verify));
}
