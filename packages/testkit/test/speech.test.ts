import { createOggOpus, startFakeSpeechService } from "@signalbox/testkit/speech";
import { expect, it, onTestFinished } from "vitest";

const VALID = { model: "tts-1", input: "Hello", voice: "alloy", response_format: "opus" };

async function open() {
  const service = await startFakeSpeechService({ key: "k" });
  onTestFinished(() => service.stop());
  const speak = (body: object, key = "k") =>
    fetch(`${service.url}/v1/audio/speech`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify(body),
    });
  return { service, speak };
}

it("speaks a valid text as Ogg Opus", async () => {
  const { speak, service } = await open();
  const response = await speak(VALID);
  expect(response.status).toBe(200);
  expect(Buffer.from(await response.arrayBuffer())).toEqual(createOggOpus());
  expect(service.spoken).toEqual([
    { text: "Hello", voice: "alloy", format: "opus", instructions: undefined },
  ]);
});

it.each([
  ["an unknown voice", { voice: "nobody" }, 400],
  ["a text of more than 4,096 characters", { input: "a".repeat(4_097) }, 400],
  ["an empty text", { input: "" }, 400],
  ["an unknown format", { response_format: "ogg" }, 400],
  ["an unknown model", { model: "tts-9" }, 404],
  ["an unknown parameter", { text: "x" }, 400],
  ["instructions for a model that accepts none", { instructions: "Whisper." }, 400],
])("refuses %s as OpenAI does", async (_, change, status) => {
  const { speak, service } = await open();
  const response = await speak({ ...VALID, ...change });
  expect(response.status).toBe(status);
  expect(await response.json()).toMatchObject({ error: { message: expect.any(String) } });
  expect(service.spoken).toEqual([]);
});

it("refuses a wrong key", async () => {
  const { speak } = await open();
  expect((await speak(VALID, "other")).status).toBe(401);
});

it.each([
  ["an unknown voice", "nobody", { text: "Hello" }, "", 404],
  ["an unknown model", "JBFqnCBsd6RMkjVDRZzb", { text: "Hello", model_id: "x" }, "", 400],
  ["an unknown format", "JBFqnCBsd6RMkjVDRZzb", { text: "Hello" }, "?output_format=ogg", 422],
  ["an empty text", "JBFqnCBsd6RMkjVDRZzb", { text: "" }, "", 422],
])("refuses %s as ElevenLabs does", async (_, voice, body, query, status) => {
  const { service } = await open();
  const response = await fetch(`${service.url}/v1/text-to-speech/${voice}${query}`, {
    method: "POST",
    headers: { "xi-api-key": "k" },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(status);
});

it.each([
  ["/v1/audio/transcriptions", { authorization: "Bearer k" }, { file: "a.xyz", model: "whisper-1" }, 400],
  ["/v1/audio/transcriptions", { authorization: "Bearer k" }, { file: "a.ogg", model: "x" }, 404],
  ["/v1/speech-to-text", { "xi-api-key": "k" }, { file: "a.ogg", model_id: "x" }, 400],
  ["/inference", {}, { response_format: "json" }, 400],
  ["/inference", {}, { file: "a.ogg", response_format: "xml" }, 400],
])("refuses an upload to %s that the vendor refuses", async (path, headers, fields, status) => {
  const { service } = await open();
  const body = new FormData();
  for (const [name, value] of Object.entries(fields))
    if (name === "file") body.set(name, new Blob(["x"]), value);
    else body.set(name, value);
  expect((await fetch(service.url + path, { method: "POST", headers, body })).status).toBe(status);
});
