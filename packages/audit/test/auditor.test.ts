import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { type Auditor, createMemoryAudit, openAudit } from "../src/index.ts";

/** A record with a file beside it, opened as often as a test likes. */
function record() {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-audit-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const notes = new Map<string, unknown>();
  const problems: string[] = [];
  const open = (log: ReturnType<typeof createMemoryAudit>): Promise<Auditor> =>
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

it("says who decided what about which call, without secrets", async () => {
  const log = createMemoryAudit();
  const audit = await record().open(log);
  const call = { tool: "exec", agentId: "coder", sessionKey: "s" };
  audit.tool({ ...call, decision: "ask", rule: "exec", speaker: "feishu:ou_1", call: "toolu_1" });
  const subject = { action: "login --password hunter2" };
  audit.approval({ ...call, id: "A1", subject, state: "allowed" }, "feishu:ou_owner");
  audit.pairing("revoked", { channel: "feishu", account: "main", peer: "ou_2" }, "feishu:ou_owner");
  await audit.close();
  expect(await log.list({})).toMatchObject([
    { kind: "tool", action: "ask", actor: "feishu:ou_1", subject: "exec", details: { call: "toolu_1" } },
    {
      kind: "approval",
      action: "allowed",
      actor: "feishu:ou_owner",
      subject: "exec: login --password [secret]",
    },
    { kind: "pairing", action: "revoked", subject: "feishu:main:ou_2" },
  ]);
});

it("notes a configuration when it is another one than at the last start", async () => {
  const log = createMemoryAudit();
  const { open } = record();
  const config = { access: { owners: ["feishu:ou_owner"], allow: [] } };
  for (const owners of [config.access.owners, config.access.owners, []]) {
    const audit = await open(log);
    await audit.configuration({ access: { ...config.access, owners } }, "signalbox.yaml");
    await audit.close();
  }
  expect((await log.list({})).map(({ details }) => details?.["owners"])).toEqual(["feishu:ou_owner", ""]);
});

it("tells of a log that has lost what was noted beside it, and leaves the note as it is", async () => {
  const { open, problems } = record();
  const log = createMemoryAudit();
  const first = await open(log);
  first.trusted("coder", "notes.md", "feishu:ou_owner");
  await first.close();
  expect(problems).toEqual([]);
  for (let start = 0; start < 2; start++) await (await open(createMemoryAudit())).close();
  expect(problems).toEqual(Array(2).fill("the audit chain is not as it was noted"));
  await (await open(log)).close();
  expect(problems).toHaveLength(2);
});
