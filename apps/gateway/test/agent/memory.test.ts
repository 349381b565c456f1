import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { exampleConfig, openWorld } from "../support/harness.ts";
import { modelRequests } from "../support/model-requests.ts";
import { IN_GROUP, plainChannel, plainMessage } from "../support/plain-channel.ts";
import { serve } from "../support/site.ts";

const MEMORY_TOOLS = ["memory_search", "memory_get", "memory_write", "memory_forget"];
const RECALLED = "From memory, perhaps outdated (untrusted)";
const inGroup = { ...IN_GROUP, addressed: "mention" } as const;
const mo = {
  sender: { id: "mo", isBot: false, isSelf: false },
  conversation: { id: "mo", kind: "direct" },
} as const;

const ACCESS = { dm: "open", owners: ["plain:anna"], allow: ["plain:mo"], groups: { mode: "open" } };

function withAccess(access: object, config: Record<string, unknown> = {}) {
  return exampleConfig({
    agents: {
      list: [
        { id: "coder", model: "anthropic/claude-sonnet-4-6", tools: { allow: ["ls", ...MEMORY_TOOLS] } },
      ],
    },
    channels: { plain: { accounts: { main: {} } } },
    access,
    ...config,
  });
}

async function remembering(config: Record<string, unknown> = {}) {
  const world = await openWorld();
  world.configure(withAccess(ACCESS, config));
  const plain = plainChannel();
  const started = await world.start({ channels: [plain.definition] });
  let count = 0;
  const say = async (text: string, where = {}) => {
    await plain.emit(plainMessage(`m${++count}`, text, where));
    await started.settled();
  };
  const requests = () => modelRequests(world.anthropic).map(({ body }) => JSON.stringify(body));
  /** Asks in new conversations: memory looks for news about once a second. */
  const untilRecalled = async (question: string, answer: string) => {
    const recalled = async () => {
      await say("/new");
      await say(question);
      return requests().at(-1)?.split(RECALLED)[1] ?? "";
    };
    await expect.poll(recalled, { interval: 200 }).toContain(answer);
  };
  return { world, plain, started, say, requests, untilRecalled };
}

/** Everything in the files of the database, with what their unused parts hold. */
function readDatabase({ databaseFile }: { readonly databaseFile: string }): string {
  return ["", "-wal"].map((end) => readFileSync(`${databaseFile}${end}`, "utf8")).join("");
}

function exampleProviders() {
  return {
    anthropic: {
      api: "anthropic-messages",
      apiKey: "${ANTHROPIC_KEY}",
      baseUrl: "${ANTHROPIC_URL}",
    },
  };
}

describe("recall", () => {
  it("adds earlier text of the same person in a fenced block, but nothing that the history contains", async () => {
    const { world, say, requests, untilRecalled } = await remembering();
    world.script(() => ({ text: "fine" }));
    await say("The boiler in the cellar is called Bertha.");
    await say("Where is the boiler called Bertha?");
    const [first = "", second = ""] = requests();
    expect(first).not.toContain(RECALLED);
    expect(second).not.toContain(RECALLED);
    await untilRecalled("Where is the boiler called Bertha?", "The boiler in the cellar is called Bertha.");
  });

  it("does not show private text to other people or groups", async () => {
    const { world, say, requests, untilRecalled } = await remembering();
    world.script(() => ({ text: "fine" }));
    await say("The passphrase of the vault is xylophoneberry.");
    await untilRecalled("What is the passphrase of the vault?", "xylophoneberry");
    await say("What is the passphrase of the vault?", mo);
    await say("What is the passphrase of the vault?", inGroup);
    await say("What is the passphrase of the vault?", { ...inGroup, sender: mo.sender });

    const told = requests().map((request) => request.includes("xylophoneberry"));
    expect(told.slice(-4)).toEqual([true, false, false, false]);
  });

  it("finds text from before a restart", async () => {
    const { world, plain, started, say, requests } = await remembering();
    world.script(() => ({ text: "fine" }));
    await say("The boiler in the cellar is called Bertha.");
    await say("/new");
    await started.stop();
    const again = await world.start({ channels: [plain.definition] });
    await plain.emit(plainMessage("later", "Where is the boiler called Bertha?"));
    await again.settled();

    expect(requests().at(-1)).toContain(RECALLED);
  });

  it("stays with its message until it is forgotten, and is not repeated", async () => {
    const { world, say, requests, untilRecalled } = await remembering();
    world.script(() => ({ text: "fine" }));
    await say("The boiler in the cellar is called Bertha.");
    await untilRecalled("Where is the boiler called Bertha?", "The boiler in the cellar is called Bertha.");
    await say("And who is Bertha in the cellar, the boiler?");
    const [before, after] = modelRequests(world.anthropic)
      .slice(-2)
      .map(({ body }) => body.messages);
    const words = (message: unknown) =>
      JSON.stringify(message, (key, value) => (key === "cache_control" ? undefined : value));
    expect(words(after?.[0])).toBe(words(before?.[0]));
    expect(requests().at(-1)?.split("The boiler in the cellar is called")).toHaveLength(2);

    const id = /\[([^\][]+)\] \([^)]*\) The boiler in the cellar/.exec(requests().at(-1) ?? "")?.[1];
    const turns = [{ toolCalls: [{ name: "memory_forget", input: { ids: [id] } }] }, { text: "forgotten" }];
    world.script(() => turns.shift() ?? { text: "fine" });
    await say("Forget that.");
    expect(requests().at(-1)).toContain("cellar is called");
    await say("And now?");
    expect(requests().at(-1)).toContain("forgotten");
    expect(requests().at(-1)).not.toContain("cellar is called");
    expect(readDatabase(world.home)).not.toContain("cellar is called");
  });

  it("is not shown to a guest in a conversation where a member saw it", async () => {
    const { world, say, requests } = await remembering();
    world.script(() => ({ text: "fine" }));
    const recalled = () => requests().at(-1)?.split(RECALLED)[1] ?? "";
    await say("The boiler in the cellar is called Bertha.", inGroup);
    const askAnew = async () => {
      await say("/new", inGroup);
      await say("Where is the boiler called Bertha?", inGroup);
      return recalled();
    };
    await expect.poll(askAnew, { interval: 200 }).toContain("in the cellar");
    await say("And what else?", inGroup);
    expect(recalled()).toContain("in the cellar");
    const guest = { ...inGroup, sender: { id: "gus", isBot: false, isSelf: false } };
    await say("What are they talking of?", guest);
    expect(requests().at(-1)).toContain("talking of");
    expect(recalled()).toBe("");
  });

  it("does not show an owner's notes to a member, even if an owner saw them in the same conversation", async () => {
    const { world, started, say, requests } = await remembering();
    world.files({ "memory/2024-01-01.md": "- The safe behind the boiler called Bertha opens with 1234." });
    world.script(() => ({ text: "fine" }));
    const askAnew = async () => {
      await say("/new");
      await say("What is behind the boiler called Bertha?");
      return requests().at(-1);
    };
    await expect.poll(askAnew, { interval: 200 }).toContain("1234");
    await say("And what else?");
    expect(requests().at(-1)).toContain("1234");
    world.configure(withAccess({ dm: "open", allow: ["plain:anna"] }));
    await started.reload();
    await say("Who am I now?");
    expect(requests().at(-1)).toContain("Who am I now?");
    expect(requests().at(-1)).not.toContain("1234");
  });

  it("can be disabled by the configuration, together with its tools", async () => {
    const { world, say, requests } = await remembering({ memory: { enabled: false } });
    world.script(() => ({ text: "fine" }));
    await say("The boiler in the cellar is called Bertha.");
    await say("/new");
    await say("Where is the boiler called Bertha?");

    expect(requests().at(-1)).not.toContain(RECALLED);
    expect(requests().at(-1)).not.toContain("memory_search");
    expect(existsSync(join(world.home.dir, "memory"))).toBe(false);
  });
});

describe("the tools", () => {
  it("write, search and forget the owner's notes, which the next prompt contains", async () => {
    const { world, say, requests } = await remembering();
    const note = { text: "The boiler is called Bertha.", lasting: true };
    world.script([
      { toolCalls: [{ name: "memory_write", input: note }] },
      { text: "noted" },
      { toolCalls: [{ name: "memory_search", input: { query: "boiler" } }] },
      { text: "found" },
      { toolCalls: [{ name: "memory_forget", input: { ids: ["MEMORY.md:1"] } }] },
      { text: "forgotten" },
      { text: "nothing" },
    ]);
    await say("Note how the boiler is called.");
    const file = join(world.home.workspace("coder"), "memory", "MEMORY.md");
    expect(readFileSync(file, "utf8")).toContain("- The boiler is called Bertha. <!-- memory ");
    expect(statSync(file).mode & 0o077).toBe(0);
    await say("Look it up.");
    expect(requests()[2]).toContain("Memory: MEMORY.md");
    expect(requests()[3]).toContain("[MEMORY.md:1]");
    await say("Forget it.");
    expect(readFileSync(file, "utf8")).toBe("");
    expect(readFileSync(join(world.home.dir, "memory", "coder.db"), "latin1")).not.toContain("Bertha. ");
    expect(readDatabase(world.home)).toContain("Note how the boiler is called.");
    expect(readDatabase(world.home)).not.toContain("The boiler is called Bertha");
  });

  it("keep a member's notes separate from the owner's", async () => {
    const { world, say, requests } = await remembering();
    const write = (text: string) => ({ toolCalls: [{ name: "memory_write", input: { text } }] });
    world.script([
      write("Mo likes xylophones."),
      { text: "noted" },
      { toolCalls: [{ name: "memory_search", input: { query: "xylophones" } }] },
      { text: "nothing" },
      { toolCalls: [{ name: "memory_search", input: { query: "xylophones" } }] },
      { text: "found" },
    ]);
    await say("Note what I like.", mo);
    await say("What does Mo like?");
    await say("What do I like?", mo);

    expect(existsSync(join(world.home.workspace("coder"), "memory", "MEMORY.md"))).toBe(false);
    const results = requests().map((request) => request.includes("Mo likes xylophones."));
    expect(results).toEqual([false, true, false, false, true, true]);
  });
});

describe("signalbox memory", () => {
  it("searches, indexes and is checked by doctor while a gateway runs", async () => {
    const { world, say } = await remembering();
    world.script(() => ({ text: "fine" }));
    await say("The boiler in the cellar is called Bertha.");

    const search = await world.command(["memory", "search", "boiler", "--json"]);
    expect(search).toMatchObject({ code: 0 });
    expect(JSON.parse(search.out).hits[0].text).toBe("The boiler in the cellar is called Bertha.");
    const index = await world.command(["memory", "index"]);
    expect(index.out).toContain("2 conversation turns, keyword search");
    const doctor = await world.command(["doctor"]);
    expect(doctor.out).toMatch(/^ok +memory of coder: .* 2 conversation turns, keyword search$/m);
    const wrong = await world.command(["memory", "search", "boiler", "--limit", "abc"]);
    expect(wrong).toMatchObject({ code: 64 });
    expect(wrong.err).toContain("Expected a whole number of at least 1.");
  });

  it("is not created by doctor", async () => {
    const { world, started } = await remembering();
    await started.stop();
    const doctor = await world.command(["doctor"]);
    expect(doctor.out).toMatch(/^ok +memory of coder: will be created with the first message$/m);
    expect(existsSync(join(world.home.dir, "memory"))).toBe(false);
  });

  it.each([
    ["from nobody", "nobody", "there is no provider nobody with a baseUrl"],
    ["from an entry that is wrong", "openai", "the entry of the provider openai has errors"],
  ])("goes on by words where its embeddings are %s, and says so", async (_, provider, problem) => {
    const openai = { api: "openai-chat", apiKey: "k-1", baseURL: "http://proxy" };
    const { world, started, say, untilRecalled } = await remembering({
      memory: { embeddings: `${provider}/model` },
      models: { providers: { ...exampleProviders(), openai } },
    });
    expect(started.problems.join()).toContain(`memory.embeddings: ${problem}`);
    world.script(() => ({ text: "fine" }));
    await say("The boiler in the cellar is called Bertha.");
    await untilRecalled("Where is the boiler called Bertha?", "The boiler in the cellar is called Bertha.");

    const doctor = await world.command(["doctor"]);
    expect(doctor.out).toContain(problem);
    expect(doctor.out).toMatch(/^ok +memory of coder: .*keyword search$/m);
  });
});

it("embeddings of the command line count for their agent, and keyword search needs none", async () => {
  await using vectors = await serve(async (request, response) => {
    const { input } = z.object({ input: z.array(z.string()) }).parse(await json(request));
    const data = input.map((_, index) => ({ index, embedding: [1, 0] }));
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ data, usage: { prompt_tokens: 1_000 } }));
  });
  const local = { api: "openai-chat", apiKey: "k-1", baseUrl: `${vectors.url}/v1` };
  const { world, started, say } = await remembering({
    memory: { embeddings: "local/small", recallTokens: 0 },
    models: { providers: { ...exampleProviders(), local } },
    budgets: [{ of: "agent", tokens: 2_000 }],
  });
  world.script(() => ({ text: "fine", usage: { input: 0, output: 0 } }));
  await say("The boiler in the cellar is called Bertha.");
  await started.stop();
  const run = async (...args: string[]) => {
    const { out } = await world.command([...args, "--json"]);
    return JSON.parse(out);
  };
  const spent = async () => (await run("usage", "--budgets")).at(0)?.spent;
  const before = vectors.requests.length;

  await run("memory", "index");
  expect(await spent()).toBe(1_000);
  expect(await run("memory", "search", "boiler")).toMatchObject({ mode: { kind: "words and vectors" } });
  expect(await spent()).toBe(2_000);
  expect(await run("memory", "search", "boiler")).toMatchObject({ mode: { kind: "words" } });
  expect(vectors.requests.length - before).toBe(2);
});

describe("before a compaction", () => {
  it("the model saves notes, which people do not see", async () => {
    const { world, plain, say } = await remembering();
    let overflowed = false;
    world.script((body) => {
      const text = JSON.stringify(body);
      if (text.includes("leave your sight"))
        return { text: "- The boiler is called Bertha.\nNone of the rest." };
      if (text.includes("Write the notes now.")) return { text: "A summary." };
      if (!text.includes("too much") || overflowed) return { text: "fine" };
      overflowed = true;
      return { error: { status: 400, message: "prompt is too long: 250000 tokens > 200000 maximum" } };
    });
    for (let at = 0; at < 4; at++) await say(`${at}: the boiler is called Bertha. ${"word ".repeat(20_000)}`);
    await say("Is this too much?");

    const folder = join(world.home.workspace("coder"), "memory");
    const [day = ""] = readdirSync(folder).filter((name) => name.endsWith(".md"));
    expect(readFileSync(join(folder, day), "utf8")).toContain("- The boiler is called Bertha. <!-- memory ");
    expect(JSON.stringify(plain.sent)).not.toContain("Bertha");
  });

  it("/compact makes the model save notes too", async () => {
    const { world, say } = await remembering();
    world.script((body) => {
      const text = JSON.stringify(body);
      if (text.includes("leave your sight")) return { text: "- The boiler is called Bertha." };
      return { text: text.includes("summary") ? "A summary." : "fine" };
    });
    for (let at = 0; at < 4; at++) await say(`${at}: the boiler is called Bertha. ${"word ".repeat(400)}`);
    await say("/compact");

    const folder = join(world.home.workspace("coder"), "memory");
    const [day = ""] = readdirSync(folder).filter((name) => name.endsWith(".md"));
    expect(readFileSync(join(folder, day), "utf8")).toContain("- The boiler is called Bertha. <!-- memory ");
  });
});

it("owners' private notes are in no prompt whose answer other people see", async () => {
  const { world, say, requests } = await remembering();
  world.files({ "USER.md": "Anna collects stamps.", "MEMORY.md": "The safe opens with 1234." });
  world.script(() => ({ text: "fine" }));
  await say("hello");
  await say("hello", mo);
  await say("hello", inGroup);
  const told = requests().map((request) => /stamps|1234/.test(request));
  expect(told).toEqual([true, false, false]);
});
