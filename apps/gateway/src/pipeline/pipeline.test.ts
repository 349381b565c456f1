import { type InboxId, parseId } from "@signalbox/store";
import { expect, it } from "vitest";
import { plainMessage } from "../../test/plain-channel.ts";
import { createTaking } from "./pipeline.ts";

const unused = () => Promise.reject(new Error("not needed here"));

it("has a message wait in its lane once it is committed, and tells its platform once it is on the disk", async () => {
  const disk = Promise.withResolvers<void>();
  const event = plainMessage("m1", "hello");
  const stored = { event, role: "member", rule: "open" } as const;
  const place = { agentId: "coder", sessionKey: "s" };
  const decision = { kind: "answer", rule: "open", role: "member" } as const;
  const id = parseId<InboxId>("01M8HAFCSQGMRCGANQ00000005");
  if (id === undefined) throw new Error("no id");
  const order: string[] = [];
  const { take } = createTaking({
    receive: () => ({ kind: "message", event, as: "message", capabilities: undefined }),
    admit: async () => ({ stored, decision, exclusive: false, place: { kind: "asked", ...place } }),
    accept: async () => ({
      outcome: "accepted",
      accepted: {
        id,
        seq: 1,
        stored,
        decision,
        exclusive: false,
        route: place,
      },
      onDisk: disk.promise,
    }),
    unanswered: { end: unused },
    edits: { edited: unused, deleted: unused },
    queue: { expect: async () => {}, enter: ({ stored }) => order.push(`in its lane: ${stored.event.text}`) },
    metrics: { timed: async (_stage, work) => work() },
  });
  const taken = take(event).then((result) => order.push(result));
  await new Promise((resolve) => setImmediate(resolve));
  expect(order).toEqual(["in its lane: hello"]);
  disk.resolve();
  await taken;
  expect(order).toEqual(["in its lane: hello", "accepted"]);
});
