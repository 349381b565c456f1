import { openStore } from "@signalbox/store";
import { expect, it, onTestFinished } from "vitest";
import type { GatewayBodies } from "../../store.ts";
import { createQueueModes } from "./queue-modes.ts";

const SEED = { agentId: "coder", channel: "plain", account: "main", peer: "anna", kind: "direct" };

it("is what the session's row says when its next message comes, whoever wrote it", async () => {
  const { sessions, close } = await openStore<GatewayBodies>({ path: ":memory:" });
  onTestFinished(close);
  await sessions.ensure({ key: "s", ...SEED });
  const [ours, others] = [createQueueModes(sessions), createQueueModes(sessions)];
  await others.set("s", "collect");
  expect(ours.get("s")).toBeUndefined();
  await ours.read("s");
  expect(ours.get("s")).toBe("collect");
  await sessions.patch("s", { title: "Another matter" });
  await others.read("s");
  expect(others.get("s")).toBe("collect");
  await others.set("s", undefined);
  await ours.read("s");
  expect(ours.get("s")).toBeUndefined();
  await ours.read("none");
  expect(ours.get("none")).toBeUndefined();
});
