import { type ApprovalInfo, ClientError, type ServerFrame } from "@signalbox/client";
import { expect, it } from "vitest";
import { createApprovalPrompts } from "../../src/cli/chat/approvals.ts";
import { createScreen } from "../../src/cli/chat/screen.ts";

const RUN = { conversation: "cli", runId: "r1" };

it("shows text as it comes, and folds each tool call into a line", () => {
  let shown = "";
  const show = createScreen((text) => {
    shown += text;
  });
  const frames: ServerFrame[] = [
    { type: "text.delta", ...RUN, delta: "Let me " },
    { type: "text.delta", ...RUN, delta: "look." },
    { type: "tool.start", ...RUN, call: { id: "c1", name: "read", args: { path: "x".repeat(200) } } },
  ];
  for (const frame of frames) show(frame);
  show({
    type: "tool.end",
    ...RUN,
    call: { id: "c1", name: "read", isError: false, text: "a long text", durationMs: 1_240 },
  });
  show({
    type: "tool.end",
    ...RUN,
    call: { id: "c2", name: "exec", isError: true, text: "no such\nfile", durationMs: 3 },
  });
  const [text, begun = "", ended, failed] = shown.split("\n");
  expect([text, ended, failed]).toEqual(["Let me look.", "✓ read, 1.2 s", "✗ exec: no such file"]);
  expect(begun).toMatch(/^▸ read \{"path":"x+…$/);
  expect(begun.length).toBeLessThan(100);
});

const WAITING: ApprovalInfo = {
  id: "A",
  agent: "main",
  sessionKey: "agent:main:web:direct:cli",
  tool: "exec",
  reason: "It writes.",
  action: "rm -r \u001b[2J build",
  expiresAt: 1,
};

it("asks about tool calls of its own conversation, once, and takes a letter for an answer", async () => {
  const waiting = [WAITING, { ...WAITING, id: "B", sessionKey: "agent:main:web:direct:other" }];
  const answered: unknown[] = [];
  let written = "";
  const desk = createApprovalPrompts(
    {
      approvals: async () => waiting,
      decideApproval: async (id, answer) => {
        answered.push([id, answer]);
      },
    },
    { agent: "main", conversation: "cli" },
    (text) => {
      written += text;
    },
  );
  expect(await desk.answer("y")).toBe(false);
  await desk.look();
  await desk.look();
  expect(written.match(/\[y\] allow/g)).toHaveLength(1);
  expect(written).not.toContain("\u001b");
  expect(await desk.answer("what does it do?")).toBe(false);
  expect(await desk.answer(" A ")).toBe(true);
  expect(answered).toEqual([["A", "allow-always"]]);
  await desk.look();
  expect(await desk.answer("y")).toBe(false);
});

it("takes a letter for a question that was answered elsewhere, and does not say it to the agent", async () => {
  let waiting = [WAITING];
  let written = "";
  const desk = createApprovalPrompts(
    {
      approvals: async () => waiting,
      decideApproval: async () => {
        throw new ClientError({ code: "not_found", message: "No approval is open." }, 404);
      },
    },
    { agent: "main", conversation: "cli" },
    (text) => {
      written += text;
    },
  );
  const answer = async (line: string) => {
    written = "";
    return { isTaken: await desk.answer(line), written };
  };
  const elsewhere = { isTaken: true, written: expect.stringContaining("Someone else already decided that") };
  await desk.look();
  expect(await answer("y")).toEqual(elsewhere);
  waiting = [{ ...WAITING, id: "C" }];
  await desk.look();
  waiting = [];
  await desk.look();
  expect(await answer("y")).toEqual(elsewhere);
  expect(await answer("y")).toEqual({ isTaken: false, written: "" });
});

it("keeps a question whose answer did not get through", async () => {
  const answers: string[] = [];
  let isUp = false;
  const desk = createApprovalPrompts(
    {
      approvals: async () => [WAITING],
      decideApproval: async (id, answer) => {
        if (!isUp) throw new Error("connection refused");
        answers.push(`${id} ${answer}`);
      },
    },
    { agent: "main", conversation: "cli" },
    (text) => {
      if (!isUp && text.includes("connection refused")) isUp = true;
    },
  );
  await desk.look();
  expect(await desk.answer("y")).toBe(true);
  expect(await desk.answer("n")).toBe(true);
  expect(answers).toEqual(["A deny"]);
});
