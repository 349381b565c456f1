import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { crc32, deflateSync } from "node:zlib";
import { estimateTokens, readImageInfo } from "@signalbox/agent-core";
import { imageMessage } from "@signalbox/testkit/feishu";
import { describe, expect, it } from "vitest";
import { ask, from, open, said } from "../support/feishu-talk.ts";
import { eventually, type World, ZHANG } from "../support/harness.ts";
import { type ModelRequest, modelRequests } from "../support/model-requests.ts";

const SEED_TOOLS = ["read", "write", "edit", "ls", "exec", "message"];
const TURNS = 50;
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

/** A grey picture of so many pixels. */
function greyPng(width: number, height: number): Buffer {
  const chunk = (type: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    check.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, check]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // Eight bits of grey; each line begins with a byte that says that it is as it stands.
  header.writeUInt8(8, 8);
  const pixels = deflateSync(Buffer.alloc((width + 1) * height, 0));
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    chunk("IHDR", header),
    chunk("IDAT", pixels),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

const agents = (tools: readonly string[]) => ({
  agents: { list: [{ id: "coder", model: "anthropic/claude-sonnet-4-6", tools: { allow: tools } }] },
});

interface Part {
  readonly hash: string;
  readonly tokens: number;
  readonly isMarked: boolean;
}

/** A request in the order that Anthropic caches it, each part with a hash of all up to it. */
function partsOf({ body }: ModelRequest): Part[] {
  const blocks: unknown[] = [
    ...body.tools,
    ...body.system,
    ...body.messages.flatMap(({ role, content }) =>
      (typeof content === "string" ? [content] : content).map((block) => ({ role, block })),
    ),
  ];
  const hash = createHash("sha256");
  return blocks.map((block) => {
    const text = JSON.stringify(block, (key, value: unknown) =>
      key === "cache_control" ? undefined : value,
    );
    const isMarked = JSON.stringify(block).includes('"cache_control"');
    hash.update(text);
    return { hash: hash.copy().digest("hex"), tokens: estimateTokens(text), isMarked };
  });
}

/** How many blocks ahead of a mark Anthropic looks for what it has. */
const LOOK_BACK = 20;

/** What is read from a cache of each request, and its whole input, as Anthropic accounts for them. */
function cacheAccounts(requests: readonly ModelRequest[]) {
  const written = new Set<string>();
  return requests.map((request) => {
    const parts = partsOf(request);
    const marks = parts.flatMap(({ isMarked }, place) => (isMarked ? [place] : []));
    const hits = marks.flatMap((mark) =>
      parts.flatMap(({ hash }, place) =>
        place <= mark && place > mark - LOOK_BACK && written.has(hash) ? [place] : [],
      ),
    );
    const upTo = Math.max(-1, ...hits);
    const tokensOf = (some: readonly Part[]) => some.reduce((sum, { tokens }) => sum + tokens, 0);
    for (const mark of marks) written.add(parts[mark]?.hash ?? "");
    return { read: tokensOf(parts.slice(0, upTo + 1)), total: tokensOf(parts) };
  });
}

/** Which digests the traces of these messages tell. */
async function digestsOf(world: World, ids: readonly string[]): Promise<string[]> {
  const digests = new Set<string>();
  for (const id of ids) {
    const told = await world.command(["why", id, "--details"]);
    digests.add(/digest ([0-9a-f]{16})/.exec(told.out)?.[1] ?? "none");
  }
  return [...digests];
}

describe("the prefix of a conversation's requests", () => {
  it("stays the same over fifty turns with tools, images, a skill, memory and a restart, and hits the cache", async () => {
    const { world, started: first } = await open(agents([...SEED_TOOLS, "memory_search"]));
    // A page of text, as agents read them all the time.
    writeFileSync(
      join(world.home.workspace("coder"), "garden.md"),
      "Roses, tulips and lilies grow here.\n".repeat(80),
    );
    let started = first;
    let turn = 0;
    let isAfterTool = false;
    world.script(() => {
      const wantsTool = turn % 2 === 1 && !isAfterTool;
      isAfterTool = wantsTool;
      if (wantsTool) return { toolCalls: [{ name: "read", input: { file_path: "garden.md" } }] };
      return { text: `This is answer ${turn}, about gardens and their flowers. `.repeat(4) };
    });
    const ids: string[] = [];
    for (turn = 0; turn < TURNS; turn++) {
      if (turn === TURNS / 2) {
        await started.stop();
        started = await world.start();
      }
      if (turn === 10) {
        const sender = from(ZHANG);
        world.feishu.addResource(sender.messageId, "img_1", PNG, { mimeType: "image/png" });
        await started.post(imageMessage("img_1", sender));
        await started.settled();
        ids.push(sender.messageId);
      } else ids.push(await ask(started, `question ${turn}: what about the flowers of garden ${turn}?`));
    }
    expect(said(world)).toHaveLength(TURNS);
    const digests = await digestsOf(
      world,
      [ids[0], ids[24], ids[25], ids[49]].filter((id) => id !== undefined),
    );
    expect(digests).toEqual([expect.stringMatching(/^[0-9a-f]{16}$/)]);
    const requests = modelRequests(world.anthropic);
    expect(new Set(requests.map(({ stable }) => stable)).size).toBe(1);
    expect(new Set(requests.map(({ body }) => JSON.stringify(body.tools))).size).toBe(1);
    const accounts = cacheAccounts(requests).slice(1);
    const sum = (name: "read" | "total") => accounts.reduce((all, account) => all + account[name], 0);
    expect(sum("read") / sum("total")).toBeGreaterThanOrEqual(0.95);
  });

  it("contains a resized image unchanged in the same run and the next", async () => {
    const { world, started } = await open(agents(SEED_TOOLS));
    writeFileSync(join(world.home.workspace("coder"), "plan.png"), greyPng(9_000, 2_000));
    const look = { toolCalls: [{ name: "read", input: { file_path: "plan.png" } }] };
    world.script([look, look, { text: "A plan." }, { text: "Still a plan." }]);
    await ask(started, "What is on plan.png?");
    await ask(started, "Is it still there?");
    const shown = modelRequests(world.anthropic).map(({ body }) => {
      const pictures = JSON.stringify(body.messages).matchAll(/"data":"([^"]+)"/g);
      return [...pictures].map(([, data = ""]) => readImageInfo(Buffer.from(data, "base64")) && data);
    });
    expect(shown.map(({ length }) => length)).toEqual([0, 1, 2, 2]);
    const [first = ""] = shown[1] ?? [];
    expect(readImageInfo(Buffer.from(first, "base64"))).toMatchObject({ width: 2_000 });
    expect(new Set(shown.flat())).toEqual(new Set([first]));
  });

  it("leaves half of a small window to the conversation", async () => {
    const contextWindow = 8_192;
    const small = {
      api: "anthropic-messages",
      apiKey: "${ANTHROPIC_KEY}",
      baseUrl: "${ANTHROPIC_URL}",
      models: [{ id: "small", contextWindow, maxOutputTokens: 1_000 }],
    };
    const { world, started } = await open({
      models: { providers: { anthropic: small } },
      agents: { list: [{ id: "coder", model: "anthropic/small", tools: { allow: SEED_TOOLS } }] },
    });
    world.files({ "AGENTS.md": "Be brief. ".repeat(10_000), "TOOLS.md": "Use the printer. ".repeat(5_000) });
    world.script([{ text: "Yes." }]);
    await ask(started, "Do you hear me?");
    expect(said(world)).toEqual(["Yes."]);
    const [request] = modelRequests(world.anthropic);
    const system = JSON.stringify(request?.body.system);
    expect(estimateTokens(system)).toBeLessThan(contextWindow / 2);
    expect(system).toContain("AGENTS.md was truncated here");
    expect(system).toContain("## Safety");
  });

  it("changes are reported with their section in the trace and by doctor", async () => {
    const { world, started } = await open();
    world.script(() => ({ text: "yes" }));
    await ask(started, "one");
    writeFileSync(join(world.home.workspace("coder"), "TOOLS.md"), "The printer is upstairs.");
    // Files that were just read are not read again for a second.
    await eventually(async () => {
      await ask(started, "two");
      await ask(started, "/why details");
      return said(world).at(-1)?.includes("the prefix changed: workspace-files added at byte 0") === true;
    }, "the change is told");
    const doctor = await world.command(["doctor", "--json"]);
    expect(doctor.out).toContain("the section workspace-files (added, from byte 0)");
  });
});

describe("signalbox prompt", () => {
  it("shows the latest prompt of an agent by section with tokens and cost", async () => {
    const { world, started } = await open(agents(SEED_TOOLS));
    world.script([{ text: "Hello!" }]);
    await ask(started, "hello");
    const shown = await world.command(["prompt", "coder", "--json"]);
    const told = JSON.parse(shown.out);
    const [request] = modelRequests(world.anthropic);
    expect(told).toMatchObject({ model: "anthropic/claude-sonnet-4-6", prices: { input: 3_000_000 } });
    expect(told.sections[0]).toMatchObject({ name: "tools", part: "stable" });
    const stable = told.sections.slice(1).filter((section: { part: string }) => section.part === "stable");
    const chars = stable.reduce((sum: number, section: { chars: number }) => sum + section.chars, 0);
    expect(chars + 2 * (stable.length - 1)).toBe(request?.stable.length);
    const people = await world.command(["prompt", "coder", "--session", told.session]);
    expect(people.out).toMatch(/^tools +stable +\d+ +\d+ +0\.00\d{4} +0\.000\d{3}$/m);
    const nobody = await world.command(["prompt", "nobody"]);
    expect(nobody.code).toBe(64);
  });
});
