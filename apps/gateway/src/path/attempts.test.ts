import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type InboxId, openStore, parseId } from "@signalbox/store";
import { expect, it, onTestFinished } from "vitest";
import { createAttempts } from "./attempts.ts";
import type { GatewayBodies } from "./stored.ts";
import type { MessageTicket } from "./ticket.ts";

async function testStore() {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-attempts-"));
  const store = await openStore<GatewayBodies>({ path: join(folder, "db") });
  onTestFinished(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });
  return store;
}

function withFile(): MessageTicket {
  const id = parseId<InboxId>("01ARZ3NDEKTSV4RRFFQ69G5001");
  if (id === undefined) throw new Error("no id");
  return {
    ...{ kind: "message", id, sessionKey: "s", agentId: "a", exclusive: false, recovered: false },
    stored: {
      rule: "open",
      role: "member",
      event: {
        ...{ type: "message", eventId: "e", messageId: "m", channel: "plain", account: "main" },
        ...{ address: "plain:room", addressed: "dm", timestamp: 0, text: "", mentions: [] },
        conversation: { id: "room", kind: "direct" },
        sender: { id: "anna", isBot: false, isSelf: false },
        media: [{ kind: "image", mimeType: "image/png", ref: {} }],
      },
    },
  };
}

it("counts the processes that ended while they took the attachments, but not those told to stop", async () => {
  const store = await testStore();
  const ticket = withFile();
  const counts: number[] = [];
  for (const ending of ["rest", "crash", "rest", "crash", "rest"]) {
    const attempts = createAttempts(store);
    counts.push((await attempts.before([ticket], 9)).most);
    await attempts.note([ticket]);
    if (ending === "rest") await attempts.rest();
  }
  expect(counts).toEqual([0, 0, 1, 1, 2]);
});
