import { readFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import type { Tokenizer } from "@huggingface/tokenizers";
import type { Embedder } from "./embedder.ts";

/** The embedding matrix, one row per token. */
interface Table {
  readonly dimensions: number;
  readonly rows: number;
  row(token: number): Float32Array;
}

interface TensorHeader {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly data_offsets: readonly [number, number];
}

/** Maximum number of tokens of a text that are averaged. */
const MAX_TOKENS = 512;

/**
 * Opens a static embedding model in model2vec's format: `model.safetensors` with one vector per token, and
 * `tokenizer.json`. The vector of a text is the mean of its tokens' vectors. The files are read by the first `embed`.
 */
export function openStaticModel(folder: string): Embedder {
  let loaded: Promise<{ table: Table; tokenizer: Tokenizer }> | undefined;
  return {
    model: `static:${basename(resolve(folder))}`,
    async embed(texts, signal) {
      loaded ??= load(folder).catch((error: unknown) => {
        // The next call tries again, because the folder may have been created in the meantime.
        loaded = undefined;
        throw error;
      });
      const { table, tokenizer } = await loaded;
      signal.throwIfAborted();
      return texts.map((text) => mean(table, tokenizer.encode(text, { add_special_tokens: false }).ids));
    },
  };
}

async function load(folder: string): Promise<{ table: Table; tokenizer: Tokenizer }> {
  const { Tokenizer } = await import("@huggingface/tokenizers");
  const json = async (name: string): Promise<object> =>
    JSON.parse(await readFile(join(folder, name), "utf8"));
  const config = await json("tokenizer_config.json").catch(() => ({}));
  const tokenizer = new Tokenizer(await json("tokenizer.json"), config);
  return { tokenizer, table: readTable(await readFile(join(folder, "model.safetensors"))) };
}

/** Format: https://github.com/huggingface/safetensors#format */
function readTable(file: Buffer): Table {
  const headerLength = Number(file.readBigUInt64LE(0));
  const header: Record<string, TensorHeader> = JSON.parse(file.toString("utf8", 8, 8 + headerLength));
  const { dtype, shape, data_offsets } = header["embeddings"] ?? {};
  const [rows, dimensions] = shape ?? [];
  if (dtype === undefined || data_offsets === undefined || rows === undefined || dimensions === undefined) {
    throw new Error("model.safetensors contains no tensor `embeddings`");
  }
  const [start, end] = data_offsets.map((offset) => 8 + headerLength + offset);
  const bytes = file.subarray(start, end);
  const values = floats(dtype, bytes);
  return { rows, dimensions, row: (token) => values.subarray(token * dimensions, (token + 1) * dimensions) };
}

function floats(dtype: string, bytes: Buffer): Float32Array {
  switch (dtype) {
    case "F32":
      return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
    case "F16":
      return Float32Array.from({ length: bytes.length / 2 }, (_, at) => half(bytes.readUInt16LE(at * 2)));
    default:
      throw new Error(
        `model.safetensors contains embeddings of type ${dtype}; only F32 and F16 are supported`,
      );
  }
}

/** Decodes a 16-bit float. */
function half(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 0x1f) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (1 + fraction / 1_024) * 2 ** (exponent - 15);
}

function mean(table: Table, tokens: readonly number[]): Float32Array {
  const sum = new Float32Array(table.dimensions);
  const counted = tokens.slice(0, MAX_TOKENS).filter((token) => token < table.rows);
  for (const token of counted) {
    for (const [at, value] of table.row(token).entries()) sum[at] = (sum[at] ?? 0) + value;
  }
  return sum.map((value) => value / Math.max(1, counted.length));
}
