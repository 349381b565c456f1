import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, onTestFinished, test, vi } from "vitest";
import { type Embedder, openStaticModel } from "../src/index.ts";
import { NOON, openMemory, temporaryFolder } from "./support.ts";

const TOPICS = [/dog|puppy|cat|kitten/, /car|train|tram|bike/, /soup|bread|cake|tea/];

/** Returns a vector by topic, so that texts of one topic are similar whatever their words. */
function byTopic(text: string, dimensions = TOPICS.length): Float32Array {
  return Float32Array.from({ length: dimensions }, (_, at) => (TOPICS[at]?.test(text) ? 1 : 0.01));
}

const TURNS = [
  { id: "pet", text: "Our puppy chewed the sofa." },
  { id: "way", text: "She takes the tram to work." },
  { id: "food", text: "There is fresh bread on the table." },
];

/** A fake embeddings API, and an embedder that uses it. */
class FakeEmbeddingsApi {
  readonly requests: string[][] = [];
  behaviour: "ok" | "fails" | "hangs" = "ok";
  dimensions = TOPICS.length;
  readonly #server: Server;

  constructor() {
    this.#server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const { input }: { input: string[] } = JSON.parse(Buffer.concat(chunks).toString());
      this.requests.push(input);
      if (this.behaviour === "hangs") return;
      response.statusCode = this.behaviour === "fails" ? 500 : 200;
      const data = input.map((text) => ({ embedding: [...byTopic(text, this.dimensions)] }));
      response.end(this.behaviour === "fails" ? "overloaded" : JSON.stringify({ data }));
    });
    onTestFinished(() => {
      this.#server.closeAllConnections();
      this.#server.close();
    });
  }

  async embedder(model = "topics"): Promise<Embedder> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    const { port } = this.#server.address() as AddressInfo;
    return {
      model,
      async embed(texts, signal) {
        const body = JSON.stringify({ input: texts });
        const response = await fetch(`http://127.0.0.1:${port}/v1/embeddings`, {
          method: "POST",
          body,
          signal,
        });
        if (!response.ok) throw new Error(`status ${response.status}`);
        const { data }: { data: { embedding: number[] }[] } = JSON.parse(await response.text());
        return data.map(({ embedding }) => Float32Array.from(embedding));
      },
    };
  }
}

test("finds similar texts that share no word with the query", async () => {
  const api = new FakeEmbeddingsApi();
  const memory = await openMemory({ embeddings: await api.embedder() });
  await memory.add(TURNS);
  await memory.embedded();

  const { hits, mode, summary } = await memory.search("a kitten", { limit: 1 });
  expect(hits[0]).toMatchObject({ id: "pet" });
  expect(hits[0]?.similarity).toBeGreaterThan(0.99);
  expect(mode).toMatchObject({ kind: "words and vectors", model: "topics", pending: 0 });
  expect(summary).toContain("words and vectors (topics, by ");
});

test("finds the same with sqlite-vec and without", async () => {
  const memory = await openMemory({
    embeddings: { model: "topics", embed: async (texts) => texts.map((text) => byTopic(text)) },
  });
  await memory.add(TURNS);
  await memory.embedded();
  const bySqlite = await memory.search("a kitten");
  const load = vi.spyOn(Database.prototype, "loadExtension").mockImplementation(() => {
    throw new Error("built for another system");
  });
  onTestFinished(() => load.mockRestore());
  const other = await openMemory({
    embeddings: { model: "topics", embed: async (texts) => texts.map((text) => byTopic(text)) },
  });
  await other.add(TURNS);
  await other.embedded();
  const byFloats = await other.search("a kitten");

  expect(bySqlite.mode).toMatchObject({ engine: "sqlite-vec" });
  expect(byFloats.mode).toMatchObject({ engine: "float32" });
  expect(byFloats.hits.map(({ id }) => id)).toEqual(bySqlite.hits.map(({ id }) => id));
  for (const [place, { similarity }] of byFloats.hits.entries()) {
    expect(similarity).toBeCloseTo(bySqlite.hits[place]?.similarity ?? 0, 5);
  }
});

test("embeds each text once, in batches, even after it was moved or the index was reopened", async () => {
  const folder = temporaryFolder();
  const api = new FakeEmbeddingsApi();
  const embeddings = await api.embedder();
  const first = await openMemory({ folder, embeddings });
  await first.add(Array.from({ length: 150 }, (_, at) => ({ text: `turn ${at}` })));
  writeFileSync(join(folder, "MEMORY.md"), "# A\nThe dog.\n");
  await first.embedded();
  await first.close();
  const asked = api.requests.flat();
  expect(asked.toSorted()).toEqual([...new Set(asked)].toSorted());
  expect(api.requests.length).toBeLessThanOrEqual(4);

  const again = await openMemory({ folder, embeddings });
  writeFileSync(join(folder, "MEMORY.md"), "# A\n\n# B\nThe dog.\n");
  await again.embedded();
  expect(api.requests.flat()).toHaveLength(asked.length);
});

test("searches by words while the provider fails, and reports it", async () => {
  const api = new FakeEmbeddingsApi();
  let now = NOON;
  const problems: string[] = [];
  const embeddings = await api.embedder();
  const memory = await openMemory({
    embeddings,
    now: () => now,
    onProblem: (problem) => problems.push(problem),
  });
  await memory.add(TURNS[0] ?? { text: "" });
  await memory.embedded();
  api.behaviour = "fails";
  await memory.add(TURNS.slice(1));
  await memory.embedded();

  const result = await memory.search("tram");
  expect(result.hits[0]?.id).toBe("way");
  expect(result.mode).toMatchObject({ kind: "words" });
  expect(result.summary).toContain("words only: the embedding provider failed (topics: status 500)");
  expect(problems).toEqual(["Some of the memory could not be embedded."]);
  expect((await memory.status()).vectors).toMatchObject({ pending: 2, problem: "status 500" });

  api.behaviour = "ok";
  now += 60_000;
  await memory.embedded();
  expect((await memory.search("bike", { limit: 1 })).hits[0]?.id).toBe("way");
  expect((await memory.status()).vectors).toEqual({ model: "topics", engine: "sqlite-vec", pending: 0 });
});

test("stops waiting for a provider that does not respond", async () => {
  const api = new FakeEmbeddingsApi();
  const embeddings = await api.embedder();
  let limitMs = 60_000;
  const memory = await openMemory({
    embeddings: { ...embeddings, embed: (texts) => embeddings.embed(texts, AbortSignal.timeout(limitMs)) },
  });
  await memory.add(TURNS);
  await memory.embedded();
  api.behaviour = "hangs";
  limitMs = 50;

  expect((await memory.search("tram")).summary).toContain("words only: the embedding provider failed");
});

test("recomputes all vectors if the model or the length of its vectors changes", async () => {
  const folder = temporaryFolder();
  const api = new FakeEmbeddingsApi();
  const embeddings = await api.embedder();
  const memory = await openMemory({ folder, embeddings });
  await memory.add(TURNS);
  await memory.embedded();

  api.dimensions = 5;
  expect((await memory.search("kitten")).summary).toContain("now returns vectors of another length");
  await memory.embedded();
  expect((await memory.search("kitten", { limit: 1 })).hits[0]?.id).toBe("pet");
  await memory.close();

  const asked = api.requests.length;
  const other = await openMemory({ folder, embeddings: { ...embeddings, model: "other" } });
  await other.embedded();
  expect(api.requests.length).toBeGreaterThan(asked);
  expect((await other.status()).vectors).toMatchObject({ model: "other", pending: 0 });
});

test("reads a static model from a folder", async () => {
  const folder = writeStaticModel({ puppy: [1, 0], kitten: [0.9, 0.1], tram: [0, 1], "[UNK]": [0, 0] });
  const memory = await openMemory({ embeddings: openStaticModel(folder) });
  await memory.add([
    { text: "puppy", id: "pet" },
    { text: "tram", id: "way" },
  ]);
  await memory.embedded();

  const { hits } = await memory.search("kitten", { limit: 1 });
  expect(hits[0]?.id).toBe("pet");
  expect(hits[0]?.similarity).toBeCloseTo(0.9 / Math.hypot(0.9, 0.1), 4);
  const [mean] = await openStaticModel(folder).embed(["puppy tram"], new AbortController().signal);
  expect([...(mean ?? [])]).toEqual([0.5, 0.5]);
});

test("reads a static model at the next call after a failure", async () => {
  const folder = writeStaticModel({ puppy: [1, 0], "[UNK]": [0, 0] });
  const away = `${folder}-away`;
  renameSync(folder, away);
  const { embed } = openStaticModel(folder);
  const signal = new AbortController().signal;
  await expect(embed(["puppy"], signal)).rejects.toThrow("ENOENT");

  renameSync(away, folder);
  expect([...((await embed(["puppy"], signal))[0] ?? [])]).toEqual([1, 0]);
});

/** Writes a model in model2vec's format: a safetensors file and a tokenizer of whole words. */
function writeStaticModel(rows: Record<string, readonly number[]>): string {
  const folder = join(temporaryFolder(), "tiny");
  mkdirSync(folder);
  const table = Float32Array.from(Object.values(rows).flat());
  const [dimensions = 0] = Object.values(rows).map((row) => row.length);
  const header = JSON.stringify({
    embeddings: {
      dtype: "F32",
      shape: [Object.keys(rows).length, dimensions],
      data_offsets: [0, table.byteLength],
    },
  });
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(Buffer.byteLength(header)));
  writeFileSync(
    join(folder, "model.safetensors"),
    Buffer.concat([length, Buffer.from(header), Buffer.from(table.buffer)]),
  );
  const vocab = Object.fromEntries(Object.keys(rows).map((word, at) => [word, at]));
  const tokenizer = {
    version: "1.0",
    added_tokens: [],
    normalizer: { type: "Lowercase" },
    pre_tokenizer: { type: "Whitespace" },
    post_processor: null,
    decoder: null,
    model: {
      type: "WordPiece",
      vocab,
      unk_token: "[UNK]",
      continuing_subword_prefix: "##",
      max_input_chars_per_word: 100,
    },
  };
  writeFileSync(join(folder, "tokenizer.json"), JSON.stringify(tokenizer));
  return folder;
}

test("keeps all vectors if the provider returns none for a query", async () => {
  const memory = await openMemory({
    embeddings: {
      model: "topics",
      embed: async (texts) => (texts[0] === "dog" ? [] : texts.map((text) => byTopic(text))),
    },
  });
  await memory.add(TURNS);
  await memory.embedded();
  expect((await memory.search("dog")).summary).toContain(
    "words only: the embedding provider returned no vector",
  );
  expect((await memory.search("kitten")).hits[0]?.id).toBe("pet");
});

test("respects the limits of providers per text and per request, in any script", async () => {
  const mostTokens = { text: 8_192, request: 16_384 };
  const bytes = (texts: readonly string[]) => texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const memory = await openMemory({
    embeddings: {
      model: "topics",
      async embed(texts) {
        // A token of a rare character can be a single byte.
        if (texts.some((text) => bytes([text]) > mostTokens.text)) throw new Error("a text is too long");
        if (bytes(texts) > mostTokens.request) throw new Error("too many tokens in batch");
        return texts.map((text) => byTopic(text));
      },
    },
  });
  await memory.add([
    { text: `dog ${"汉".repeat(9_000)}` },
    ...Array.from({ length: 40 }, (_, at) => ({ text: `Soup number ${at}: ${"x".repeat(900)}` })),
  ]);
  await memory.embedded();
  expect((await memory.status()).vectors).toMatchObject({ pending: 0 });
  expect((await memory.search("犬".repeat(9_000))).mode.kind).toBe("words and vectors");
});
