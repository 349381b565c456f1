import { loadConfig } from "@signalbox/config";
import { createOggOpus, startFakeSpeechService } from "@signalbox/testkit/speech";
import { describe, expect, it, onTestFinished } from "vitest";
import { createTranscriber, transcriptionProblems } from "../../src/configure/transcription.ts";
import { voiceKeyProblems } from "../../src/configure/voice-provider.ts";

const load = (yaml: string) => loadConfig({ file: "signalbox.yaml", text: yaml, env: {} });
const RECORDING = { bytes: Buffer.from("RIFF"), mimeType: "audio/ogg", extension: "opus" };
const WHISPER = "media: { transcription: local/whisper-1 }\n";
const LOCAL =
  "models: { providers: { local: { api: openai-chat, apiKey: k-1, baseUrl: 'http://127.0.0.1:9/v1/' } } }\n";

describe("transcription", () => {
  it("asks a configured provider as OpenAI is asked", async () => {
    const asked: Request[] = [];
    const fetch = async (input: string | URL | Request, init?: RequestInit) => {
      asked.push(new Request(input, init));
      return Response.json({ text: " Bring milk.\n" });
    };
    const transcriber = createTranscriber(load(WHISPER + LOCAL).config, {}, { fetch });
    expect(await transcriber?.transcribe(RECORDING, AbortSignal.abort())).toBe("Bring milk.");
    const [request] = asked;
    expect(request?.url).toBe("http://127.0.0.1:9/v1/audio/transcriptions");
    expect(request?.headers.get("authorization")).toBe("Bearer k-1");
    expect(request?.redirect).toBe("error");
  });

  it.each([
    ["OpenAI", "openai-chat", "/v1", "whisper-1", 2],
    ["ElevenLabs", "elevenlabs", "", "scribe_v1", 2],
    ["Deepgram", "deepgram", "", "nova-3", 2],
    ["whisper.cpp", "whisper-cpp", "", "base", undefined],
  ])("transcribes a recording with the API of %s", async (_, api, path, model, seconds) => {
    const service = await startFakeSpeechService({ key: "key-of-the-service" });
    onTestFinished(() => service.stop());
    const { config, problems } = load(`
media: { transcription: voices/${model} }
models: { providers: { voices: { api: ${api}, apiKey: key-of-the-service, baseUrl: '${service.url}${path}' } } }
`);
    expect(problems).toEqual([]);
    const reported: (number | undefined)[] = [];
    const transcriber = createTranscriber(
      config,
      {},
      {
        async pay(_recording, ask) {
          const written = await ask();
          reported.push(written.seconds);
          return written;
        },
      },
    );
    const recording = { bytes: createOggOpus(), mimeType: "audio/ogg", extension: "opus" };
    expect(await transcriber?.transcribe(recording, new AbortController().signal)).toBe("Please buy milk.");
    expect(reported).toEqual([seconds]);
  });

  it.each([
    ["elevenlabs", "scribe_v1", "xi-api-key", "k-env", "https://api.elevenlabs.io/v1/speech-to-text"],
    ["deepgram", "nova-3", "authorization", "Token k-env", "https://api.deepgram.com/v1/listen"],
  ])(
    "uses the address of %s and the key of the environment without others",
    async (api, model, name, value, url) => {
      const asked: Request[] = [];
      const fetch = async (input: string | URL | Request, init?: RequestInit) => {
        asked.push(new Request(input, init));
        return Response.json({ text: "" });
      };
      const { config } = load(
        `media: { transcription: voices/${model} }\nmodels: { providers: { voices: { api: ${api} } } }\n`,
      );
      const env = { ELEVENLABS_API_KEY: "k-env", DEEPGRAM_API_KEY: "k-env", OPENAI_API_KEY: "other" };
      await createTranscriber(config, env, { fetch })
        ?.transcribe(RECORDING, AbortSignal.abort())
        .catch(() => {});
      expect(asked[0]?.url.split("?")[0]).toBe(url);
      expect(asked[0]?.headers.get(name)).toBe(value);
    },
  );

  it("reads at most 5 MB of a response", async () => {
    const fetch = async () => Response.json({ text: "a".repeat(5_000_001) });
    const transcriber = createTranscriber(load(WHISPER + LOCAL).config, {}, { fetch });
    await expect(transcriber?.transcribe(RECORDING, new AbortController().signal)).rejects.toThrow(
      /more than 5000000 bytes/,
    );
  });

  it.each([
    [async () => new Response("no", { status: 500 }), /status 500/],
    [async () => Response.json({ words: [] }), /its response was not text/],
  ])("rejects where the answer is no text", async (fetch, reason) => {
    const transcriber = createTranscriber(load(WHISPER + LOCAL).config, {}, { fetch });
    await expect(transcriber?.transcribe(RECORDING, new AbortController().signal)).rejects.toThrow(reason);
  });

  it.each([
    { what: "no provider of that name", yaml: WHISPER },
    {
      what: "a provider that was left out, whose recordings must not go to the vendor",
      yaml: "media: { transcription: openai/whisper-1 }\nmodels: { providers: { openai: { api: openai-chat, baseURL: 'http://proxy' } } }\n",
    },
    {
      what: "a provider that has no such address",
      yaml: "media: { transcription: anthropic/x }\nmodels: { providers: { anthropic: { api: anthropic-messages } } }\n",
    },
  ])("is off, and says so, for $what", ({ yaml }) => {
    const loaded = load(yaml);
    expect(createTranscriber(loaded.config, { OPENAI_API_KEY: "k-2" })).toBeUndefined();
    expect(transcriptionProblems(loaded)).toMatchObject([{ path: "media.transcription", severity: "error" }]);
  });

  it("reports a vendor without a key only if it is used", () => {
    const providers = "models: { providers: { voices: { api: deepgram } } }\n";
    const used = load(`media: { transcription: voices/nova-3 }\n${providers}`);
    expect(voiceKeyProblems(used, {})).toMatchObject([
      { path: "models.providers.voices.apiKey", remedy: expect.stringContaining("DEEPGRAM_API_KEY") },
    ]);
    expect(voiceKeyProblems(used, { DEEPGRAM_API_KEY: "k" })).toEqual([]);
    expect(voiceKeyProblems(load(providers), {})).toEqual([]);
  });

  it("is off where nothing is said of it", () => {
    const loaded = load(LOCAL);
    expect([createTranscriber(loaded.config, {}), transcriptionProblems(loaded)]).toEqual([undefined, []]);
  });
});
