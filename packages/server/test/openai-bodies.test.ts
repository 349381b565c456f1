import { expect, it } from "vitest";
import { TOKEN } from "./harness.ts";
import { hello, MODEL, open, refusal } from "./openai-harness.ts";

/** Sends a raw body. */
function post(url: string, body: string): Promise<Response> {
  const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
  return fetch(`${url}/v1/chat/completions`, { method: "POST", headers, body });
}

it("reports the first error of a large body and refuses too much text without parsing it", async () => {
  const { service, openai, url } = await open();
  const zeros = (count: number) => new Array<number>(count).fill(0);
  const wrap = (content: readonly number[]) => [{ role: "user", content }];
  const bodies: readonly (readonly [readonly unknown[], object])[] = [
    [zeros(5_000), { status: 400, param: "messages.0" }],
    [zeros(5_001), { status: 400, param: "messages" }],
    [wrap(zeros(450_000)), { status: 400, param: "messages.0.content" }],
    [zeros(4_000_000), { status: 413 }],
    [wrap(zeros(4_000_000)), { status: 413 }],
    [new Array(100_000).fill('data:,"data:,'), { status: 413 }],
    [[`data: ${"so many words, ".repeat(100_000)}`], { status: 413 }],
    [[`data:;base64,${"so many words, ".repeat(100_000)}`], { status: 400, param: "messages.0" }],
    [[`data:;base64,${"so many\nwords, ".repeat(100_000)}`], { status: 413 }],
    [new Array(9_000).fill(`data:;base64,${"A".repeat(1_000)}`), { status: 400, param: "messages" }],
  ];
  for (const [messages, answered] of bodies) {
    const body = { model: MODEL, messages };
    expect(await refusal(() => openai().post("/chat/completions", { body }))).toMatchObject(answered);
  }
  const levels = 50_000;
  const schema = `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
  const flat = JSON.stringify({ ...hello, response_format: { type: "json_schema", name: "n", schema: 0 } });
  const deep = await post(url, flat.replace('"schema":0', `"schema":${schema}`));
  expect(deep.status).toBe(400);
  expect(await deep.json()).toMatchObject({ error: { param: "response_format" } });
  expect(service.submissions).toEqual([]);
});

it("counts text that only looks like an attachment", async () => {
  const { service, openai } = await open();
  const long = `data:;base64,${"A".repeat(1_000_000)}`;
  const user = (content: unknown) => [{ role: "user", content }];
  const bodies: readonly object[] = [
    { messages: user(long) },
    { messages: [...user("hi"), { role: "assistant", content: long }, ...user("and?")] },
    { messages: [{ role: "system", content: long }, ...user("hi")] },
    { messages: user([{ type: "file", file: { file_data: "data:;base64,AAEC", filename: long } }]) },
    {
      ...hello,
      response_format: { type: "json_schema", json_schema: { name: "n", schema: { const: long } } },
    },
  ];
  for (const body of bodies)
    expect(
      await refusal(() => openai().post("/chat/completions", { body: { model: MODEL, ...body } })),
    ).toMatchObject({ status: 413, param: "messages" });
  const responses = { model: MODEL, input: "hi", instructions: long };
  expect(await refusal(() => openai().post("/responses", { body: responses }))).toMatchObject({
    status: 413,
    param: "input",
  });
  expect(service.submissions).toEqual([]);
});

it("does not count attachments as text, with or without escaped slashes", async () => {
  const { service, url } = await open();
  const picture = `data:image/png;base64,${"AAE/".repeat(300_000)}`;
  const content = [{ type: "image_url", image_url: { url: picture } }];
  const body = JSON.stringify({ model: MODEL, messages: [{ role: "user", content }] });
  for (const written of [body, body.replaceAll("/", "\\/")])
    expect((await post(url, written)).status).toBe(200);
  const isComplete = service.submissions.map(({ attachments }) => attachments?.[0]?.url === picture);
  expect(isComplete).toEqual([true, true]);
});
