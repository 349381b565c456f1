import { loadConfig } from "@signalbox/config";
import { describe, expect, it } from "vitest";
import { createTranscriber, transcriptionProblems } from "../../src/configure/transcription.ts";

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

  it("is off where nothing is said of it", () => {
    const loaded = load(LOCAL);
    expect([createTranscriber(loaded.config, {}), transcriptionProblems(loaded)]).toEqual([undefined, []]);
  });
});
