// Measures a signed request up to the call of `emit`, compared to hashing and parsing the body. Usage: node
// bench/index.ts [events]
import { createHmac } from "node:crypto";
import { openChannel } from "@signalbox/channel/testkit";
import { push, startSlack, textMessage } from "@signalbox/testkit/slack";
import { slack } from "../src/index.ts";

const events = Number(process.argv[2] ?? 20_000);
const signingSecret = "secret";
const botToken = "xoxb-token";

const fakeServer = await startSlack({ botToken });
const settings = { botToken, signingSecret, transport: "webhook", baseUrl: fakeServer.apiUrl };
const running = await openChannel(slack, settings, {
  context: { emit: async () => "accepted" },
  close: () => fakeServer.stop(),
});
const { channel } = running;
const pushes = Array.from({ length: events }, (_, index) =>
  push(textMessage(`message ${index}`), { signingSecret }),
);
const floor = await measure(async (sent) => {
  const request = new Request("http://gateway/events", sent);
  const body = Buffer.from(await request.arrayBuffer());
  createHmac("sha256", signingSecret).update("v0:1:").update(body).digest("hex");
  JSON.parse(body.toString());
  return Response.json({}).status;
});
const ours = await measure(
  async (sent) => (await channel.webhook?.(new Request("http://gateway/events", sent)))?.status,
);
console.log(`${ours.toFixed(1)} µs an event, floor ${floor.toFixed(1)} µs, ${(ours / floor).toFixed(2)} ×`);
await running[Symbol.asyncDispose]();

async function measure(
  work: (sent: (typeof pushes)[number]) => Promise<number | undefined>,
): Promise<number> {
  for (const sent of pushes.slice(0, events / 10)) await work(sent);
  const start = performance.now();
  for (const sent of pushes) if ((await work(sent)) !== 200) throw new Error("refused");
  return ((performance.now() - start) / events) * 1000;
}
