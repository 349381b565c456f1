import { join } from "node:path";
import { expect, it } from "vitest";
import { type AuditLog, type Auditor, openAudit } from "../../src/audit/index.ts";
import { temporaryFolder, testStore } from "../support.ts";

async function emptyLog(): Promise<AuditLog> {
  return (await testStore()).store.audit;
}

/** A folder with a head file, and `open`, which opens an auditor on it as each start of a gateway does. */
function auditedHome() {
  const folder = temporaryFolder();
  const notes = new Map<string, unknown>();
  const problems: string[] = [];
  const open = (log: AuditLog): Promise<Auditor> =>
    openAudit({
      log,
      notes: {
        get: async (namespace, key) => notes.get(`${namespace}/${key}`),
        set: async (namespace, key, value) => notes.set(`${namespace}/${key}`, value),
      },
      headFile: join(folder, "head"),
      redact: (text) => text.replaceAll("hunter2", "[secret]"),
      onProblem: (message) => void problems.push(message),
      now: () => 1,
    });
  return { open, problems };
}

it("records who decided what about which call, without secrets", async () => {
  const log = await emptyLog();
  const audit = await auditedHome().open(log);
  const call = { tool: "exec", agentId: "coder", sessionKey: "s" };
  audit.tool({ ...call, decision: "ask", rule: "exec", speaker: "feishu:ou_1", call: "toolu_1" });
  const subject = { action: "login --password hunter2" };
  audit.approval({ ...call, id: "A1", subject, state: "allowed" }, "feishu:ou_owner");
  audit.pairing("revoked", { channel: "feishu", account: "main", peer: "ou_2" }, "feishu:ou_owner");
  audit.signIn({ action: "signed_in", principal: { name: "ann", role: "owner" }, remote: "127.0.0.1" });
  await audit.close();
  expect(await log.list()).toMatchObject([
    { kind: "tool", action: "ask", actor: "feishu:ou_1", subject: "exec", details: { call: "toolu_1" } },
    {
      kind: "approval",
      action: "allowed",
      actor: "feishu:ou_owner",
      subject: "exec: login --password [secret]",
    },
    { kind: "pairing", action: "revoked", subject: "feishu:main:ou_2" },
    { kind: "sign_in", action: "signed_in", actor: "ann", details: { role: "owner" } },
  ]);
});

it("records a configuration only if it differs from the previous start", async () => {
  const log = await emptyLog();
  const { open } = auditedHome();
  const config = { access: { owners: ["feishu:ou_owner"], allow: [] } };
  for (const owners of [config.access.owners, config.access.owners, []]) {
    const audit = await open(log);
    await audit.configuration({ access: { ...config.access, owners } }, "signalbox.yaml");
    await audit.close();
  }
  expect((await log.list()).map(({ details }) => details?.["owners"])).toEqual(["feishu:ou_owner", ""]);
});

it("reports a log that lost its noted head, and keeps the head file", async () => {
  const { open, problems } = auditedHome();
  const log = await emptyLog();
  const first = await open(log);
  first.trusted("coder", "notes.md", "feishu:ou_owner");
  await first.close();
  expect(problems).toEqual([]);
  for (let start = 0; start < 2; start++) await (await open(await emptyLog())).close();
  expect(problems).toEqual(Array(2).fill("the audit chain does not contain its recorded head"));
  await (await open(log)).close();
  expect(problems).toHaveLength(2);
});
