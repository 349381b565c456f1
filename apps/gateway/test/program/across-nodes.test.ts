import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createClient, type ServerFrame } from "@signalbox/client";
import { textMessage } from "@signalbox/testkit/feishu";
import { startPostgres } from "@signalbox/testkit/postgres";
import { startS3 } from "@signalbox/testkit/s3";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { eventually, exampleConfig, openWorld, TOKEN, type World, ZHANG } from "../support/harness.ts";
import { modelRequests } from "../support/model-requests.ts";
import { type Node, startNode } from "../support/nodes.ts";
import { clientOf } from "../support/openai-client.ts";

const started = await startPostgres();
const server = typeof started === "string" ? undefined : started;
if (typeof started === "string") console.log(`skipped: ${started}`);
afterAll(() => server?.stop());

const TEXT = "alpha beta gamma delta epsilon zeta eta theta";

/** Starts two gateways on one PostgreSQL database. The agent runs on the first one. */
async function startTwo(world: World, settings: object) {
  const config = exampleConfig({ store: { url: server?.url(), ...settings } });
  const one = await startNode(world, "one", config);
  const two = await startNode(world, "two", config);
  expect(one.log()).toContain("agents run on this node now");
  expect(two.log()).not.toContain("agents run on this node now");
  return { one, two };
}

/** A model that reads a file and then stops in the middle of its text until it is released. */
function pausingModel(world: World) {
  const release = Promise.withResolvers<void>();
  onTestFinished(() => release.resolve());
  world.script((_request, index) =>
    index === 0
      ? { toolCalls: [{ name: "ls", input: { path: "." } }] }
      : { text: TEXT, chunks: 8, pace: (event) => (event === 6 ? release.promise : undefined) },
  );
  return release.resolve;
}

const clientAt = ({ gateway }: Node) => createClient({ baseUrl: gateway.url, token: TOKEN });
const textOf = (frames: readonly ServerFrame[]) =>
  frames.flatMap((frame) => (frame.type === "text.delta" ? frame.delta : [])).join("");
const typesOf = (frames: readonly ServerFrame[]) => new Set(frames.map(({ type }) => type));

/** Collects frames until the iterator ends. */
function collect(from: AsyncIterable<ServerFrame>): {
  readonly frames: ServerFrame[];
  readonly ended: Promise<void>;
} {
  const frames: ServerFrame[] = [];
  const ended = (async () => {
    for await (const frame of from) frames.push(frame);
  })();
  return { frames, ended };
}

describe.skipIf(server === undefined)("a viewer at a gateway that does not run the agent", () => {
  it.each([true, false])("sees a run live over WebSocket and event stream (hints: %s)", async (hints) => {
    const world = await openWorld();
    const release = pausingModel(world);
    const { one, two } = await startTwo(world, { hints });
    const conversation = `c-${hints}`;
    const chat = collect(clientAt(two).chat("coder", conversation, "hello"));
    await eventually(() => textOf(chat.frames).startsWith("alpha"), "the text appears while it is written");
    expect(textOf(chat.frames)).not.toContain("theta");
    // Another viewer joins in the middle of the run, and a third one where it runs.
    const watching = new AbortController();
    onTestFinished(() => watching.abort());
    const viewers = [one, two].map((node) =>
      collect(clientAt(node).events(conversation, { agent: "coder", signal: watching.signal })),
    );
    for (const { frames } of viewers)
      await eventually(() => textOf(frames).startsWith("alpha"), "a later viewer sees the beginning");
    for (const { frames } of viewers) expect(frames[0]).toMatchObject({ type: "subscribed", busy: true });
    release();
    await chat.ended;
    for (const { frames } of [...viewers, chat]) {
      await eventually(() => typesOf(frames).has("run.end"), "the viewer sees the end");
      expect(textOf(frames)).toBe(TEXT);
      for (const type of ["run.start", "tool.start", "tool.end", "message"])
        expect(typesOf(frames)).toContain(type);
    }
    const [own] = chat.frames.filter((frame) => frame.type === "message");
    expect(own?.message).toMatchObject({ role: "user", text: "hello" });
    expect(chat.frames.filter((frame) => frame.type === "message")).toHaveLength(2);
    const late = collect(clientAt(two).events(conversation, { agent: "coder", signal: watching.signal }));
    await eventually(() => late.frames.length > 0, "a viewer joins after the run");
    expect(late.frames[0]).toMatchObject({ busy: false, lastRun: { outcome: "replied" } });
  });

  it("follows a run to the gateway that takes it over", async () => {
    const world = await openWorld();
    const never = Promise.withResolvers<void>();
    onTestFinished(() => never.resolve());
    world.script((_request, index) =>
      index === 0
        ? { text: TEXT, chunks: 8, pace: (event) => (event === 6 ? never.promise : undefined) }
        : { text: "answered by the second gateway" },
    );
    const { one, two } = await startTwo(world, {});
    const chat = collect(clientAt(two).chat("coder", "c-takeover", "hello"));
    await eventually(() => textOf(chat.frames).startsWith("alpha"), "the text appears while it is written");
    one.pause();
    await chat.ended;
    const starts = chat.frames.flatMap((frame, at) => (frame.type === "run.start" ? [{ ...frame, at }] : []));
    expect(new Set(starts.map(({ runId }) => runId)).size).toBe(1);
    // A repeated start clears the text before it.
    expect(textOf(chat.frames.slice(starts.at(-1)?.at))).toBe("answered by the second gateway");
    expect(chat.frames.at(-1)).toMatchObject({ type: "run.end", outcome: "replied" });
    // The first gateway continues, as after a long pause, and ends.
    one.resume();
    never.resolve();
    await eventually(() => one.fatal.length > 0, "the first gateway ends");
    await one.stop();
  });

  it.each([true, false])("gets a stream of /v1/chat/completions (hints: %s)", async (hints) => {
    const world = await openWorld();
    const release = pausingModel(world);
    const { two } = await startTwo(world, { hints });
    const stream = await clientOf(two.gateway).chat.completions.create({
      model: "signalbox/coder",
      messages: [{ role: "user", content: "hello" }],
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = "";
    let last: { readonly usage?: object | null } | undefined;
    let finish: string | null | undefined;
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? "";
      finish = chunk.choices[0]?.finish_reason ?? finish;
      last = chunk;
      // The model waits until its first words have arrived.
      if (text !== "") release();
    }
    expect(text).toBe(TEXT);
    expect(finish).toBe("stop");
    expect(Reflect.get(Object(last?.usage), "completion_tokens")).toBeGreaterThan(0);
  });
});

/** Returns the names of all files below a folder. */
function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.flatMap((entry) => (entry.isFile() ? [entry.name] : []));
}

describe.skipIf(server === undefined)("files of gateways that share a store", () => {
  it.each(["PostgreSQL", "S3"])("reach the gateway that runs the agent, through %s", async (place) => {
    const world = await openWorld();
    const s3 = await startS3();
    onTestFinished(() => s3.stop());
    const { bucket, region, url: endpoint, accessKeyId, secretAccessKey } = s3;
    const blobs = { s3: { bucket, region, endpoint, pathStyle: true, accessKeyId, secretAccessKey } };
    const { two } = await startTwo(world, place === "S3" ? { blobs } : {});
    const workspace = join(world.dir, "one", "workspaces", "coder");
    mkdirSync(workspace, { recursive: true });
    writeFileSync(join(workspace, "chart.csv"), "a,b\n1,2\n");
    world.script([{ text: "Read." }, { text: "Here:\nMEDIA:chart.csv" }]);

    // A client uploads a file to one gateway, and the other one reads it.
    const client = clientAt(two);
    const notes = await client.upload(new File(["the notes"], "notes.txt", { type: "text/plain" }));
    const connection = client.connect();
    onTestFinished(() => connection.close());
    const frames = collect(connection.frames());
    connection.subscribe(`f-${place}`, "coder");
    await connection.send({
      agent: "coder",
      conversation: `f-${place}`,
      text: "Read.",
      attachments: [notes],
    });
    await eventually(() => typesOf(frames.frames).has("run.end"), "the message is answered");
    expect(JSON.stringify(modelRequests(world.anthropic)[0])).toContain("the notes");

    // The attachment of a reply is stored before it is sent.
    const ask = textMessage("send it", { senderId: ZHANG, messageId: `om_${place}` });
    expect((await two.post(ask)).status).toBe(200);
    await eventually(() => world.feishu.sent.length === 2, "the reply and its attachment are out");
    const [upload] = world.feishu.sent.flatMap((sent) => world.feishu.upload(sent) ?? []);
    expect(String(Buffer.from(upload?.content ?? []))).toBe("a,b\n1,2\n");
    for (const home of ["one", "two"]) expect(filesBelow(join(world.dir, home, "media"))).toEqual([]);
    const folders = new Set(s3.keys().map((key) => key.split("/", 1)[0]));
    expect(folders).toEqual(new Set(place === "S3" ? ["media", "uploads"] : []));
    expect(s3.refused).toEqual([]);
  });
});
