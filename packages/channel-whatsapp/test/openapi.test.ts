import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { MediaPart } from "@signalbox/channel";
import { checkEvent } from "@signalbox/channel/testkit";
import { person, textMessage } from "@signalbox/testkit/whatsapp";
import { getRecordingsFolder } from "@signalbox/testkit/wire";
import { expect, it } from "vitest";
import { never, openBench, post } from "./harness.ts";
import { findViolations, getSpec } from "./spec.ts";

const to = { to: person.id };

function media(kind: MediaPart["kind"], mimeType: string): MediaPart {
  return { type: "media", kind, name: "a.bin", mimeType, size: 4, ref: 1 };
}

it("sends only requests that Meta's own document allows", async ({ skip }) => {
  const find = getSpec();
  if (find === undefined) return skip("Meta's API document is checked only if SIGNALBOX_RECORDINGS is set");
  await using bench = await openBench();
  const { channel, fakeServer } = bench;
  await post(bench, textMessage("hello", { id: "wamid.1" }));
  const options = { signal: never, openMedia: async () => new Blob(["four"]).stream() };
  const buttons = (count: number) =>
    Array.from({ length: count }, (_, id) => ({ id: `b${id}`, label: `${id}` }));
  const parts = [
    { type: "markdown", text: "**one**" },
    { type: "text", text: "two" },
    { type: "buttons", text: "May it?", buttons: buttons(2) },
    { type: "buttons", text: "Which?", buttons: buttons(7) },
    media("image", "image/png"),
    media("audio", "audio/ogg"),
    media("video", "video/mp4"),
    media("file", "text/plain"),
  ] as const;
  await channel.send(to, { parts, replyTo: "wamid.1" }, { ...options, idempotencyKey: "k1" });
  const others = [{ to: "US.13491208655302741918" }, { to: "Y2FwaV9n", isGroup: true }] as const;
  for (const [index, other] of others.entries())
    await channel.send(other, { parts: [parts[1]] }, { ...options, idempotencyKey: `o${index}` });
  await channel.react?.(to, "wamid.1", { emoji: "👍", on: true }, never);
  await channel.react?.(to, "wamid.1", { emoji: "👍", on: false }, never);
  await channel.typing?.(to, { on: true }, never);
  const bodies = fakeServer.requests.filter(({ path }) => path.endsWith("/messages"));
  expect(bodies).toHaveLength(13);
  expect(findViolations(fakeServer)).toEqual([]);

  // Control: the same bodies with a misspelled field.
  const refused = bodies.map(({ text }) => {
    const body = JSON.parse(text);
    const schema = "status" in body ? "MarkMessageRequestPayload" : "Message";
    return find(schema, { ...body, messaging_produkt: "whatsapp" });
  });
  for (const problems of refused) expect(problems).not.toEqual([]);
  const text = { messaging_product: "whatsapp", recipient_type: "individual", to: person.id, type: "text" };
  expect(find("Message", { ...text, text: { body: "x" } })).toEqual([]);
  expect(find("Message", { ...text, text: { boddy: "x" } })).not.toEqual([]);
  expect(find("Message", { ...text, to: undefined, text: { body: "x" } })).not.toEqual([]);
});

it("reads payloads that were recorded elsewhere as the events that they mean", async ({ skip }) => {
  const folder = getRecordingsFolder();
  const file = join(folder ?? "", "recordings", "whatsapp-vercel-chat.json");
  if (folder === undefined || !existsSync(file))
    return skip("recorded payloads are read only if SIGNALBOX_RECORDINGS is set");
  const recording = JSON.parse(readFileSync(file, "utf8"));
  await using bench = await openBench({ phoneNumberId: recording.phoneNumberId });
  for (const name of ["firstMessage", "secondMessage", "statusUpdate"])
    expect(await post(bench, recording[name]), name).toBe(200);
  expect(bench.events).toMatchObject([
    {
      type: "message",
      messageId: "wamid.FAKE_MSG_ID_001",
      text: "What is Vercel?",
      timestamp: 1_772_998_024_000,
    },
    {
      type: "message",
      messageId: "wamid.FAKE_MSG_ID_002",
      text: "Tell me more",
      sender: { name: "Test User" },
    },
  ]);
  for (const event of bench.events)
    expect(checkEvent(event, { channel: "whatsapp", account: "main" })).toEqual([]);
});
