import { crc32, deflateSync } from "node:zlib";
import { type FakeServer, json, listen, parseJson, type SeenRequest } from "../http.ts";

export interface FakeImageServiceOptions {
  readonly key: string;
  /** Replaces the result. */
  readonly answer?: () => { readonly status: number; readonly body: unknown };
}

/** A fake of OpenAI's images API and of Gemini's image models. */
export interface FakeImageService extends Pick<FakeServer, "url" | "stop"> {
  readonly requests: readonly SeenRequest[];
}

const OPENAI_FIELDS = new Set([
  ...["model", "prompt", "n", "size", "quality", "background", "moderation", "output_compression"],
  ...["output_format", "partial_images", "stream", "style", "user", "response_format"],
]);
const SIZES: Readonly<Record<string, readonly string[]>> = {
  "gpt-image-1": ["auto", "1024x1024", "1536x1024", "1024x1536"],
  "dall-e-3": ["1024x1024", "1792x1024", "1024x1792"],
};
const RATIOS = ["1:1", "2:3", "3:2", "3:4", "4:3", "4:5", "5:4", "9:16", "16:9", "21:9"];

/**
 * Starts such a service. It refuses wrong keys, unknown models and parameters, and sizes that the model does not have.
 *
 * @see https://platform.openai.com/docs/api-reference/images/create
 * @see https://ai.google.dev/gemini-api/docs/image-generation
 */
export async function startFakeImageService({
  key,
  answer,
}: FakeImageServiceOptions): Promise<FakeImageService> {
  const requests: SeenRequest[] = [];
  const { url, stop } = await listen((request, response) => {
    requests.push(request);
    const body = parseJson(request.text);
    const isGoogle = request.path.startsWith("/v1beta/");
    const problem = isGoogle ? checkGoogle(request, body, key) : checkOpenAi(request, body, key);
    if (problem !== undefined) return json(response, problem.status, { error: { message: problem.message } });
    const custom = answer?.();
    if (custom !== undefined) return json(response, custom.status, custom.body);
    const data = Buffer.from(createPng()).toString("base64");
    const usage = { input_tokens: 20, output_tokens: 1_000, total_tokens: 1_020 };
    if (!isGoogle) return json(response, 200, { created: 1, data: [{ b64_json: data }], usage });
    const parts = [{ text: "Here it is." }, { inlineData: { mimeType: "image/png", data } }];
    return json(response, 200, {
      candidates: [{ content: { role: "model", parts }, finishReason: "STOP" }],
      usageMetadata: { promptTokenCount: 20, candidatesTokenCount: 1_290 },
    });
  });
  return { url, stop, requests };
}

interface Problem {
  readonly status: number;
  readonly message: string;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function checkOpenAi({ path, headers }: SeenRequest, body: unknown, key: string): Problem | undefined {
  if (path !== "/v1/images/generations") return { status: 404, message: `Invalid URL (POST ${path})` };
  if (headers["authorization"] !== `Bearer ${key}`)
    return { status: 401, message: "Incorrect API key provided" };
  if (!isRecord(body)) return { status: 400, message: "We could not parse the JSON body of your request." };
  const unknown = Object.keys(body).find((name) => !OPENAI_FIELDS.has(name));
  if (unknown !== undefined) return { status: 400, message: `Unknown parameter: '${unknown}'.` };
  const { model, prompt, size, response_format: format } = body;
  const sizes = SIZES[String(model)];
  if (sizes === undefined) return { status: 400, message: `Invalid value: '${model}'.` };
  if (typeof prompt !== "string" || prompt === "")
    return { status: 400, message: "Missing required parameter: 'prompt'." };
  if (!sizes.includes(String(size))) return { status: 400, message: `Invalid value: '${size}'.` };
  if (format !== undefined && model === "gpt-image-1")
    return { status: 400, message: "Unknown parameter: 'response_format'." };
  return undefined;
}

function checkGoogle({ path, headers }: SeenRequest, body: unknown, key: string): Problem | undefined {
  if (path !== "/v1beta/models/gemini-image:generateContent")
    return { status: 404, message: "model not found" };
  if (headers["x-goog-api-key"] !== key) return { status: 400, message: "API key not valid." };
  const config = isRecord(body) && isRecord(body["generationConfig"]) ? body["generationConfig"] : {};
  const image = isRecord(config["imageConfig"]) ? config["imageConfig"] : {};
  if (!JSON.stringify(config["responseModalities"] ?? []).includes("IMAGE"))
    return { status: 400, message: "The model does not support the requested response modalities." };
  if (!RATIOS.includes(String(image["aspectRatio"])))
    return { status: 400, message: "Invalid aspect ratio." };
  return undefined;
}

/** Creates a gray PNG of 8 × 8 pixels. */
function createPng(): Uint8Array {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(8, 0);
  header.writeUInt32BE(8, 4);
  header.set([8, 0, 0, 0, 0], 8);
  const chunk = (type: string, data: Uint8Array): Buffer => {
    const named = Buffer.concat([Buffer.from(type), data]);
    const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    check.writeUInt32BE(crc32(named));
    return Buffer.concat([length, named, check]);
  };
  const rows = Buffer.alloc(8 * 9, 128).map((byte, at) => (at % 9 === 0 ? 0 : byte));
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(rows)),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}
