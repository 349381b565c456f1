import { readdirSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { createClient, isClientError } from "@signalbox/client";
import { describe, expect, it } from "vitest";
import { exampleConfig, openWorld, TOKEN } from "../support/harness.ts";
import { modelRequests } from "../support/model-requests.ts";
import { pauseAt } from "../support/paused-model.ts";

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

async function open() {
  const world = await openWorld();
  world.configure(exampleConfig({ channels: {} }));
  const { url } = await world.start();
  return { world, url, client: createClient({ baseUrl: url, token: TOKEN }) };
}

describe("files that a client sends", () => {
  it("reach the agent like a channel's: stored in its workspace, shown to the model, and labelled", async () => {
    const { world, client } = await open();
    world.script([{ text: "Seen." }]);
    const shares: number[] = [];
    const text = "line\n".repeat(300_000);
    const notes = await client.upload(new File([text], "notes.txt", { type: "text/plain" }), {
      onProgress: (share) => shares.push(share),
    });
    expect(shares).toHaveLength(3);
    expect(shares.at(-1)).toBe(1);
    const picture = await client.upload(new File([PNG], "dot.png", { type: "image/png" }));
    const connection = client.connect();
    const frames = connection.frames();
    connection.subscribe("c1", "coder");
    await connection.send({ agent: "coder", conversation: "c1", text: "", attachments: [notes, picture] });
    for await (const frame of frames) if (frame.type === "run.end") break;
    connection.close();
    const asked = JSON.stringify(modelRequests(world.anthropic)[0]);
    expect(asked).toMatch(/\[file \\"notes\.txt\\", text\/plain, inbox\/[0-9a-f]{16}\/[0-9a-f]{16}\.txt\]/);
    expect(asked).toContain('"media_type":"image/png"');
    const { messages } = await client.history("c1");
    expect(messages[0]).toMatchObject({
      role: "user",
      text: "",
      attachments: [
        { name: "notes.txt", mimeType: "text/plain", bytes: text.length },
        { name: "dot.png", mimeType: "image/png", bytes: PNG.length },
      ],
    });
  });

  it("are rejected if they are too large or the client is not signed in", async () => {
    const { url, client } = await open();
    const code = (promise: Promise<unknown>) =>
      promise.catch((error: unknown) => (isClientError(error) ? error.code : String(error)));
    expect(await code(client.upload(new Blob([new Uint8Array(20_500_000)])))).toBe("too_large");
    expect(await code(createClient({ baseUrl: url, token: "a guess" }).upload(new Blob(["x"])))).toBe(
      "unauthorized",
    );
    const put = (path: string, headers: Record<string, string> = {}) =>
      fetch(`${url}/api/uploads/${path}`, {
        method: "PUT",
        body: "x",
        headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/octet-stream", ...headers },
      });
    expect((await put("an-id-of-16-chars?at=0", { origin: "https://elsewhere.example" })).status).toBe(403);
    expect((await put("short?at=0")).status).toBe(400);
    expect((await put("an-id-of-16-chars?at=-1")).status).toBe(400);
    expect((await put("an-id-of-16-chars?at=7")).status).toBe(409);
    expect(await (await put("an-id-of-16-chars?at=0")).json()).toEqual({ bytes: 1 });
  });

  it("are kept as long as a message that refers to them waits, even for days", async () => {
    const world = await openWorld();
    const gateway = { port: 0, auth: { token: TOKEN }, shutdownMs: 0 };
    world.configure(exampleConfig({ channels: {}, gateway }));
    const { reached } = pauseAt(world, 0, [{ text: "Read." }, { text: "Read." }]);
    const { url, stop } = await world.start();
    const client = createClient({ baseUrl: url, token: TOKEN });
    const notes = await client.upload(new File(["of long ago"], "notes.txt", { type: "text/plain" }));
    const connection = client.connect();
    await connection.send({ agent: "coder", conversation: "c1", text: "Read it.", attachments: [notes] });
    await reached;
    connection.close();
    await stop();
    const dir = join(world.home.mediaDir, "uploads");
    for (const file of readdirSync(dir, { recursive: true, encoding: "utf8" }))
      utimesSync(join(dir, file), 1, 1);
    expect((await world.command(["maintenance", "prune"])).code).toBe(0);
    await (await world.start()).settled();
    expect(JSON.stringify(modelRequests(world.anthropic).at(-1))).toContain("of long ago");
  });

  it("that no longer exist become a note to the agent, not a failure", async () => {
    const { world, client } = await open();
    world.script([{ text: "Where is it?" }]);
    const gone = { id: "never-uploaded-at-all", mimeType: "text/plain", bytes: 3 };
    const connection = client.connect();
    const frames = connection.frames();
    connection.subscribe("c1", "coder");
    await connection.send({ agent: "coder", conversation: "c1", text: "Read it.", attachments: [gone] });
    let outcome: string | undefined;
    for await (const frame of frames) {
      if (frame.type === "run.end") outcome = frame.outcome;
      if (outcome !== undefined) break;
    }
    expect(outcome).toBe("replied");
    connection.close();
    expect(JSON.stringify(modelRequests(world.anthropic)[0])).toContain("could not be fetched");
  });
});
