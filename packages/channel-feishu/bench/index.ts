// From a pushed event to the call of `emit`, beside the floor: hash or decipher the body and parse it.
// Usage: node bench/index.ts [events]
import { createDecipheriv, createHash } from "node:crypto";
import { openChannel } from "@signalbox/channel/testkit";
import { push, textMessage } from "@signalbox/testkit/feishu";
import { feishu } from "../src/index.ts";

const events = Number(process.argv[2] ?? 20_000);
const token = "token";

for (const encryptKey of [undefined, "key"]) {
  const secrets = encryptKey === undefined ? {} : { encryptKey };
  const settings = { appId: "cli_1", appSecret: "secret", verificationToken: token, ...secrets };
  const { channel } = await openChannel(feishu, settings, { context: { emit: async () => "accepted" } });
  const pushes = Array.from({ length: events }, (_, index) =>
    push(textMessage(`message ${index}`), { token, ...secrets }),
  );
  const floor = await measure(async (sent) => {
    const request = new Request("http://gateway/events", sent);
    await open(await request.text(), encryptKey);
    return Response.json({}).status;
  });
  const ours = await measure(
    async (sent) => (await channel.webhook?.(new Request("http://gateway/events", sent)))?.status,
  );
  const name = encryptKey === undefined ? "plain" : "encrypted";
  console.log(
    `${name}: ${ours.toFixed(1)} µs an event, floor ${floor.toFixed(1)} µs, ${(ours / floor).toFixed(2)} ×`,
  );

  async function measure(
    work: (sent: (typeof pushes)[number]) => Promise<number | undefined>,
  ): Promise<number> {
    for (const sent of pushes.slice(0, events / 10)) await work(sent);
    const start = performance.now();
    for (const sent of pushes) if ((await work(sent)) !== 200) throw new Error("refused");
    return ((performance.now() - start) / events) * 1000;
  }
}

function open(body: string, encryptKey: string | undefined): unknown {
  const parsed = JSON.parse(body);
  if (encryptKey === undefined) return parsed;
  createHash("sha256").update(body).digest("hex");
  const bytes = Buffer.from(parsed.encrypt, "base64");
  const key = createHash("sha256").update(encryptKey).digest();
  const decipher = createDecipheriv("aes-256-cbc", key, bytes.subarray(0, 16));
  return JSON.parse(Buffer.concat([decipher.update(bytes.subarray(16)), decipher.final()]).toString());
}
