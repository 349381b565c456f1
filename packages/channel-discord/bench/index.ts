// Measures time and memory of Discord clients, each in a separate process, and then the path from a gateway
// frame to the call of `emit`, compared to parsing the frame. Usage: node bench/index.ts [events]
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { openChannel } from "@signalbox/channel/testkit";
import { discord } from "@signalbox/channel-discord";
import { type FakeDiscord, startDiscord } from "@signalbox/testkit/discord";

const token = "MTAwMA.made-up.secret";
const client = fileURLToPath(new URL("./client.ts", import.meta.url));
const events = Number(process.argv[2] ?? 20_000);

console.log("| | resident memory | time |\n| --- | --- | --- |");
await row("load @discordjs/ws and @discordjs/rest", "parts");
await row("load @discordjs/core with them", "core");
await row("load discord.js", "discord.js");
for (const servers of [1, 100, 1_000]) {
  const fakeServer = await withServers(servers);
  await row(`connect this channel, ${servers} servers`, "channel", fakeServer.url);
  await row(`connect discord.js's client, caches off, ${servers} servers`, "client", fakeServer.url);
  await fakeServer.stop();
}
await measureEvents();

async function row(name: string, what: string, url = ""): Promise<void> {
  const runs: { readonly mb: number; readonly ms: number }[] = [];
  for (let run = 0; run < 3; run += 1) {
    const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", client, what, url]);
    runs.push(JSON.parse(stdout));
  }
  const [, median] = runs.toSorted((a, b) => a.mb - b.mb);
  // Includes the first second after connecting.
  const ms = url === "" ? `${median?.ms} ms` : "";
  console.log(`| ${name} | ${median?.mb} MB | ${ms} |`);
}

/** Servers with 50 channels and 20 roles. */
async function withServers(count: number): Promise<FakeDiscord> {
  const fakeServer = await startDiscord({ token });
  for (let server = 1; server <= count; server += 1) {
    const id = String(1_000_000 * server);
    const roles = Array.from({ length: 20 }, (_, role) => ({
      id: String(Number(id) + 500 + role),
      name: `role ${role}`,
    }));
    fakeServer.addGuild({ id, channelId: String(Number(id) + 1), roles });
    for (let channel = 2; channel <= 50; channel += 1)
      fakeServer.addChannel({
        id: String(Number(id) + channel),
        type: 0,
        guildId: id,
        name: `channel ${channel}`,
      });
  }
  return fakeServer;
}

async function measureEvents(): Promise<void> {
  const fakeServer = await startDiscord({ token });
  const settings = { token, apiBaseUrl: fakeServer.url };
  const running = await openChannel(discord, settings, {
    context: { emit: async () => "accepted" },
    close: () => fakeServer.stop(),
  });
  const { id: channelId } = fakeServer.directWith("2001");
  const gatewayEvent = fakeServer.eventOf(
    fakeServer.plant({ channelId, authorId: "2001", content: "hello" }),
  );
  const send = async (count: number): Promise<void> => {
    let last = 0;
    for (let one = 0; one < count; one += 1)
      last = fakeServer.gateway.dispatch("MESSAGE_CREATE", { ...gatewayEvent, id: String(one + 1) }) ?? 0;
    await fakeServer.acknowledged(last);
  };
  await send(events / 10);
  const ours = await timed(() => send(events));
  const frame = JSON.stringify({ op: 0, t: "MESSAGE_CREATE", s: 1, d: gatewayEvent });
  const floor = await timed(async () => {
    for (let one = 0; one < events; one += 1) JSON.parse(JSON.stringify(JSON.parse(frame)));
  });
  console.log(
    `\n${ours.toFixed(0)} µs an event over the socket, fake server included; to write and read a frame takes ${floor.toFixed(0)} µs`,
  );
  await running[Symbol.asyncDispose]();
}

async function timed(work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return ((performance.now() - start) / events) * 1000;
}
