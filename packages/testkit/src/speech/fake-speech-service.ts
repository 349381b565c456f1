import type { ServerResponse } from "node:http";
import { type FakeServer, formOf, json, listen, parseJson, type SeenRequest } from "../http.ts";
import { createOggOpus } from "./ogg-opus.ts";

export interface FakeSpeechServiceOptions {
  readonly key: string;
  /** Replaces the result of a valid request to speak. */
  readonly answer?: (response: ServerResponse) => void;
  /** The transcript of each valid recording. Default: `Please buy milk.` */
  readonly transcript?: string;
}

/** A text that the service has spoken. */
interface SpokenText {
  readonly text: string;
  readonly voice: string;
  readonly format: string;
  readonly instructions: string | undefined;
}

/**
 * A fake of the speech and transcription APIs of OpenAI and ElevenLabs, of Deepgram's transcription API, and of the
 * server of whisper.cpp.
 */
export interface FakeSpeechService extends Pick<FakeServer, "url" | "stop"> {
  readonly requests: readonly SeenRequest[];
  /** The valid requests to speak. */
  readonly spoken: readonly SpokenText[];
}

/** A rejected request, in the vendor's form. */
interface Refusal {
  readonly status: number;
  readonly body: unknown;
}

const OPENAI_MODELS = ["tts-1", "tts-1-hd", "gpt-4o-mini-tts"];
const OPENAI_VOICES = "alloy ash ballad cedar coral echo fable marin nova onyx sage shimmer verse".split(" ");
const OPENAI_FORMATS = ["mp3", "opus", "aac", "flac", "wav", "pcm"];
const OPENAI_FIELDS = [
  "model",
  "input",
  "voice",
  "response_format",
  "instructions",
  "speed",
  "stream_format",
];
const OPENAI_MAX_CHARACTERS = 4_096;
const OPENAI_TRANSCRIBERS = ["whisper-1", "gpt-4o-transcribe", "gpt-4o-mini-transcribe"];
const OPENAI_FILES = ["flac", "m4a", "mp3", "mp4", "mpeg", "mpga", "oga", "ogg", "wav", "webm"];
const ELEVENLABS_VOICES = ["JBFqnCBsd6RMkjVDRZzb"];
/** Maximum number of characters of each model. */
const ELEVENLABS_MODELS: Readonly<Record<string, number>> = {
  eleven_multilingual_v2: 10_000,
  eleven_flash_v2_5: 40_000,
  eleven_v3: 5_000,
};
const ELEVENLABS_FORMATS =
  /^(mp3_(22050_32|44100_(32|64|96|128|192))|opus_48000_(32|64|96|128|192)|pcm_\d+)$/;

/**
 * Starts such a service. It refuses wrong keys, unknown models, voices, formats and parameters, texts that are empty or
 * too long, and files that the vendor does not accept.
 *
 * @see https://platform.openai.com/docs/api-reference/audio/createSpeech
 * @see https://elevenlabs.io/docs/api-reference/text-to-speech/convert
 * @see https://developers.deepgram.com/reference/speech-to-text/listen-pre-recorded
 * @see https://github.com/ggml-org/whisper.cpp/tree/master/examples/server
 */
export async function startFakeSpeechService(options: FakeSpeechServiceOptions): Promise<FakeSpeechService> {
  const { key, transcript = "Please buy milk." } = options;
  const requests: SeenRequest[] = [];
  const spoken: SpokenText[] = [];
  const { url, stop } = await listen(async (request, response) => {
    requests.push(request);
    const { pathname, searchParams: query } = new URL(request.path, "http://localhost");
    const refuse = ({ status, body }: Refusal) => json(response, status, body);
    const speak = (result: SpokenText | Refusal) => {
      if ("status" in result) return refuse(result);
      spoken.push(result);
      if (options.answer !== undefined) return options.answer(response);
      response.writeHead(200, {
        "content-type": result.format.startsWith("opus") ? "audio/ogg" : "audio/mpeg",
      });
      response.end(result.format.startsWith("opus") ? createOggOpus() : createMp3());
    };
    const transcribe = (refusal: Refusal | undefined, answer: object) =>
      refusal === undefined ? json(response, 200, answer) : refuse(refusal);
    if (pathname === "/v1/audio/speech") return speak(checkOpenAiSpeech(request, key));
    if (pathname.startsWith("/v1/text-to-speech/"))
      return speak(checkElevenLabsSpeech(request, { key, query, voice: pathname.split("/")[3] ?? "" }));
    if (pathname === "/v1/audio/transcriptions")
      return transcribe(await checkOpenAiFile(request, key), {
        text: transcript,
        usage: { type: "duration", seconds: 2 },
      });
    if (pathname === "/v1/speech-to-text")
      return transcribe(await checkElevenLabsFile(request, key), {
        language_code: "eng",
        text: transcript,
        words: [{ text: transcript, start: 0, end: 2, type: "word" }],
      });
    if (pathname === "/v1/listen")
      return transcribe(checkDeepgram(request, { key, query }), {
        metadata: { duration: 2 },
        results: { channels: [{ alternatives: [{ transcript, confidence: 0.9 }] }] },
      });
    if (pathname === "/inference")
      return transcribe(await checkWhisperCpp(request), { text: ` ${transcript}\n` });
    return json(response, 404, { error: { message: `Invalid URL (POST ${pathname})` } });
  });
  return { url, stop, requests, spoken };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

function refuseAsOpenAi(status: number, message: string): Refusal {
  return { status, body: { error: { message, type: "invalid_request_error", param: null, code: null } } };
}

function checkOpenAiKey({ headers }: SeenRequest, key: string): Refusal | undefined {
  if (headers["authorization"] === undefined) return refuseAsOpenAi(401, "You didn't provide an API key.");
  return headers["authorization"] === `Bearer ${key}`
    ? undefined
    : refuseAsOpenAi(401, "Incorrect API key provided");
}

function checkOpenAiSpeech(request: SeenRequest, key: string): SpokenText | Refusal {
  const wrongKey = checkOpenAiKey(request, key);
  if (wrongKey !== undefined) return wrongKey;
  const body = parseJson(request.text);
  if (!isRecord(body)) return refuseAsOpenAi(400, "We could not parse the JSON body of your request.");
  const unknown = Object.keys(body).find((name) => !OPENAI_FIELDS.includes(name));
  if (unknown !== undefined) return refuseAsOpenAi(400, `Unknown parameter: '${unknown}'.`);
  const { model, input, voice, response_format: format = "mp3", instructions } = body;
  if (!OPENAI_MODELS.includes(String(model)))
    return refuseAsOpenAi(404, `The model \`${model}\` does not exist or you do not have access to it.`);
  if (typeof input !== "string" || input === "")
    return refuseAsOpenAi(400, "[{'type': 'string_too_short', 'loc': ('body', 'input')}]");
  if (input.length > OPENAI_MAX_CHARACTERS)
    return refuseAsOpenAi(400, "[{'type': 'string_too_long', 'loc': ('body', 'input'), 'max_length': 4096}]");
  if (!OPENAI_VOICES.includes(String(voice)))
    return refuseAsOpenAi(400, `[{'type': 'enum', 'loc': ('body', 'voice'), 'input': '${voice}'}]`);
  if (!OPENAI_FORMATS.includes(String(format)))
    return refuseAsOpenAi(
      400,
      `[{'type': 'enum', 'loc': ('body', 'response_format'), 'input': '${format}'}]`,
    );
  if (instructions !== undefined && String(model).startsWith("tts-1"))
    return refuseAsOpenAi(400, "Instructions are not supported for this model.");
  return {
    text: input,
    voice: String(voice),
    format: String(format),
    instructions: instructions === undefined ? undefined : String(instructions),
  };
}

function refuseAsElevenLabs(httpStatus: number, status: string, message: string): Refusal {
  return { status: httpStatus, body: { detail: { status, message } } };
}

interface ElevenLabsCall {
  readonly key: string;
  readonly voice: string;
  readonly query: URLSearchParams;
}

function checkElevenLabsSpeech(
  { headers, text }: SeenRequest,
  { key, voice, query }: ElevenLabsCall,
): SpokenText | Refusal {
  if (headers["xi-api-key"] === undefined)
    return refuseAsElevenLabs(
      401,
      "needs_authorization",
      "Neither authorization header nor xi-api-key received.",
    );
  if (headers["xi-api-key"] !== key) return refuseAsElevenLabs(401, "invalid_api_key", "Invalid API key");
  const body = parseJson(text);
  if (!isRecord(body)) return refuseAsElevenLabs(400, "invalid_json", "The body is not JSON.");
  const { text: input, model_id: model = "eleven_multilingual_v2" } = body;
  if (!ELEVENLABS_VOICES.includes(voice))
    return refuseAsElevenLabs(404, "voice_not_found", `A voice with the voice_id ${voice} was not found.`);
  const limit = ELEVENLABS_MODELS[String(model)];
  if (limit === undefined)
    return refuseAsElevenLabs(400, "model_not_found", `A model with model ID ${model} does not exist.`);
  if (typeof input !== "string" || input === "")
    return {
      status: 422,
      body: { detail: [{ type: "string_type", loc: ["body", "text"], msg: "invalid" }] },
    };
  if (input.length > limit)
    return refuseAsElevenLabs(400, "max_character_limit_exceeded", "This request exceeds the maximum.");
  const format = query.get("output_format") ?? "mp3_44100_128";
  if (!ELEVENLABS_FORMATS.test(format))
    return {
      status: 422,
      body: { detail: [{ type: "enum", loc: ["query", "output_format"], msg: "invalid" }] },
    };
  return { text: input, voice, format, instructions: undefined };
}

async function checkOpenAiFile(request: SeenRequest, key: string): Promise<Refusal | undefined> {
  const wrongKey = checkOpenAiKey(request, key);
  if (wrongKey !== undefined) return wrongKey;
  const form = await formOf(request);
  const file = form?.get("file");
  if (!OPENAI_TRANSCRIBERS.includes(String(form?.get("model"))))
    return refuseAsOpenAi(404, `The model \`${form?.get("model")}\` does not exist.`);
  if (!(file instanceof File)) return refuseAsOpenAi(400, "Missing required parameter: 'file'.");
  const extension = file.name.split(".").at(-1) ?? "";
  if (!OPENAI_FILES.includes(extension))
    return refuseAsOpenAi(400, `Unrecognized file format. Supported formats: ${OPENAI_FILES}`);
  return undefined;
}

async function checkElevenLabsFile(request: SeenRequest, key: string): Promise<Refusal | undefined> {
  if (request.headers["xi-api-key"] !== key)
    return refuseAsElevenLabs(401, "invalid_api_key", "Invalid API key");
  const form = await formOf(request);
  const model = form?.get("model_id");
  if (model !== "scribe_v1" && model !== "scribe_v2")
    return refuseAsElevenLabs(400, "invalid_model_id", `'${model}' is not a valid model_id.`);
  return form?.get("file") instanceof File
    ? undefined
    : refuseAsElevenLabs(400, "invalid_parameters", "Must provide either file or URL.");
}

function checkDeepgram(
  { headers, text }: SeenRequest,
  { key, query }: Pick<ElevenLabsCall, "key" | "query">,
): Refusal | undefined {
  const refuse = (status: number, code: string, message: string): Refusal => {
    return { status, body: { err_code: code, err_msg: message, request_id: "1" } };
  };
  if (headers["authorization"] !== `Token ${key}`) return refuse(401, "INVALID_AUTH", "Invalid credentials.");
  if (!/^nova-[23]/.test(query.get("model") ?? ""))
    return refuse(403, "INSUFFICIENT_PERMISSIONS", "Project does not have access to the requested model.");
  const isAudio = /^(audio|video)\//.test(String(headers["content-type"]));
  return isAudio && text !== ""
    ? undefined
    : refuse(400, "Bad Request", "Bad Request: failed to process audio: corrupt or unsupported data");
}

/** The server accepts WAV, and other files only if it was started with `--convert`, as here. */
async function checkWhisperCpp(request: SeenRequest): Promise<Refusal | undefined> {
  const form = await formOf(request);
  if (!(form?.get("file") instanceof File))
    return { status: 400, body: { error: "no 'file' field in the request" } };
  const format = form.get("response_format") ?? "json";
  return ["json", "text", "srt", "verbose_json", "vtt"].includes(String(format))
    ? undefined
    : { status: 400, body: { error: "invalid response format" } };
}

/** Creates an MP3 file with an ID3 header and one frame. */
function createMp3(): Buffer {
  const frame = Buffer.alloc(417);
  frame.set([0xff, 0xfb, 0x90, 0x64]);
  return Buffer.concat([Buffer.from("ID3"), Buffer.from([4, 0, 0, 0, 0, 0, 0]), frame]);
}
