import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { decideByPolicy } from "./policy.ts";
import type { ClaimKind, Role, RunFacts } from "./types.ts";

const TABLE = /## Who may do what in a run\n[\s\S]*?\n\| --- .*\n([\s\S]*?)\n\n/;
const WHO: readonly Pick<RunFacts, "role" | "taint">[] = [
  { role: "owner", taint: [] },
  { role: "owner", taint: [{ source: "web" }] },
  ...(["member", "guest", "system"] as const).map((role: Role) => ({ role, taint: [] })),
];
const CLAIMS: readonly ClaimKind[] = [
  "read_identity",
  "write_identity",
  "exec_network",
  "message_elsewhere",
  "read_elsewhere",
  "schedule",
  "fetch_unseen",
  "operate_page",
  "save_download",
  "read_config",
  "configure",
];
const WORDS = { allow: "yes", ask: "asks", deny: "no" };

test("docs/security.md describes the policy", () => {
  const text = readFileSync(new URL("../../../docs/security.md", import.meta.url), "utf8");
  const rows = (TABLE.exec(text)?.[1] ?? "").split("\n").map((row) =>
    row
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  const named = rows.flatMap(([what = ""]) => what.match(/(?<=`)[a-z_]+(?=`)/g) ?? []);
  expect(CLAIMS.every((claim) => named.includes(claim))).toBe(true);
  for (const [what = "", ...cells] of rows) {
    for (const name of what.match(/(?<=`)[a-z_]+(?=`)/g) ?? []) {
      const verdicts = WHO.map(({ role, taint }) => {
        const kind = CLAIMS.find((claim) => claim === name);
        const tool = { name: kind === undefined ? name : "read", effects: "none" as const };
        const claims = kind === undefined ? [] : [{ kind, detail: "x" }];
        const facts = { agentId: "coder", sessionKey: "s", channelKind: "direct", role, taint };
        return WORDS[decideByPolicy({}, { tool, claims, facts }).decision];
      });
      expect([name, verdicts]).toEqual([name, cells]);
    }
  }
});
