import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { createClient } from "@signalbox/client";
import { fileMessage } from "@signalbox/testkit/feishu";
import { toFolderName } from "@signalbox/tools";
import { describe, expect, it } from "vitest";
import type { StartedChild } from "../support/children.ts";
import { eventually, exampleConfig, openWorld, TOKEN, type World, ZHANG } from "../support/harness.ts";
import { modelRequests } from "../support/model-requests.ts";

const BYTES = Buffer.from("line\n".repeat(200_000));

async function begin(): Promise<{ world: World; first: StartedChild }> {
  const world = await openWorld();
  world.configure(exampleConfig());
  world.script(() => ({ text: "Read." }));
  return { world, first: await world.startChild() };
}

/** Begins to upload a file, and resolves once half of it is on its way. The rest never comes. */
function beginUpload(url: string): Promise<void> {
  const sent = Promise.withResolvers<void>();
  const upload = request(`${url}/api/uploads/half`, {
    method: "PUT",
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "text/plain" },
  });
  upload.on("error", () => {});
  upload.write(BYTES.subarray(0, BYTES.length / 2), () => sent.resolve());
  return sent.promise;
}

function mediaOf(world: World): string[] {
  return existsSync(world.home.mediaDir) ? readdirSync(world.home.mediaDir) : [];
}

describe("a gateway that is killed", () => {
  it("during an upload keeps no partial file, and accepts the complete one later", async () => {
    const { world, first } = await begin();
    await beginUpload(first.url);
    await first.end("SIGKILL");
    expect(mediaOf(world)).toEqual([]);

    const second = await world.startChild();
    const client = createClient({ baseUrl: second.url, token: TOKEN });
    const notes = await client.upload(new File([BYTES], "notes.txt", { type: "text/plain" }));
    const sent = { agent: "coder", conversation: "c1", text: "read it", attachments: [notes] };
    const connection = client.connect();
    await connection.send(sent);
    connection.close();
    await second.end("SIGKILL");

    // What was taken is answered, with the file that came with it.
    const third = await world.start();
    const after = createClient({ baseUrl: third.url, token: TOKEN });
    const said = async () => (await after.history("c1").catch(() => undefined))?.messages ?? [];
    await eventually(
      async () => (await said()).some(({ role }) => role === "assistant"),
      "the message is answered",
    );
    const messages = await said();
    expect(messages.filter(({ role }) => role === "user")).toHaveLength(1);
    expect(messages[0]).toMatchObject({ attachments: [{ name: "notes.txt", bytes: BYTES.length }] });
  });

  it("during a download fetches the complete file after the restart, and answers once", async () => {
    const { world, first } = await begin();
    world.feishu.addResource("om_1", "file_1", BYTES, { mimeType: "text/plain" });
    world.feishu.fail({ kind: "hang", path: "/resources/", times: 1 });
    await first.post(fileMessage("file_1", "notes.txt", { senderId: ZHANG, messageId: "om_1" }));
    const asked = () => world.feishu.requests.filter(({ path }) => path.includes("/resources/")).length;
    await eventually(() => asked() === 1, "the file is asked for");
    await first.end("SIGKILL");

    await world.start();
    await eventually(() => world.feishu.sent.length > 0, "the message is answered");
    const folder = toFolderName(`agent:coder:feishu:direct:${ZHANG}`);
    const name = `${createHash("sha256").update(BYTES).digest("hex").slice(0, 16)}.txt`;
    expect(readdirSync(join(world.home.workspace("coder"), "inbox", folder))).toEqual([name]);
    expect(readFileSync(join(world.home.workspace("coder"), "inbox", folder, name))).toEqual(BYTES);
    expect(world.feishu.sent).toHaveLength(1);
    expect(modelRequests(world.anthropic)).toHaveLength(1);
  });

  it("during a reload uses the new configuration after the restart", async () => {
    const { world, first } = await begin();
    const config = exampleConfig({
      agents: { list: [{ id: "second", model: "anthropic/claude-sonnet-4-6" }] },
    });
    writeFileSync(world.home.configFile, JSON.stringify({ ...config, bindings: [] }));
    first.process.kill("SIGHUP");
    await first.end("SIGKILL");
    const second = await world.start();
    const client = createClient({ baseUrl: second.url, token: TOKEN });
    expect((await client.agents()).map(({ id }) => id)).toEqual(["second"]);
  });
});
