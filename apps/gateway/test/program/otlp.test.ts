import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { textMessage } from "@signalbox/testkit/feishu";
import { expect, it, onTestFinished } from "vitest";
import { eventually, exampleConfig, openWorld, ZHANG } from "../support/harness.ts";

/** A collector that accepts everything. */
async function openCollector() {
  const received: { path: string; body: string }[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (chunk: string) => {
      body += chunk;
    });
    request.on("end", () => {
      received.push({ path: request.url ?? "", body });
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, received };
}

it.each(["the configuration", "the environment"])(
  "a collector from %s gets the spans of a run and the metrics, without a word of the conversation",
  async (source) => {
    const { url, received } = await openCollector();
    const world = await openWorld();
    const isConfigured = source === "the configuration";
    world.configure(exampleConfig(isConfigured ? { telemetry: { otlp: { endpoint: url } } } : {}));
    world.script([{ text: "a secret answer" }]);
    const child = await world.startChild([], isConfigured ? {} : { OTEL_EXPORTER_OTLP_ENDPOINT: url });
    await child.post(textMessage("a secret question", { senderId: ZHANG, messageId: "om_1" }));
    await eventually(() => world.feishu.sent.length === 1, "the reply is out");
    await child.end("SIGTERM");
    const bodyOf = (path: string): string =>
      received.flatMap((request) => (request.path === path ? request.body : [])).join("\n");
    for (const part of ["invoke_agent coder", '"gen_ai.operation.name"', '"chat ', '"signalbox.run.id"'])
      expect(bodyOf("/v1/traces")).toContain(part);
    for (const part of ["gen_ai.client.token.usage", "signalbox_runs_total", "signalbox_account_up"])
      expect(bodyOf("/v1/metrics")).toContain(part);
    expect(JSON.stringify(received)).not.toMatch(/secret (question|answer)/);
    expect(JSON.stringify(received)).not.toContain(ZHANG);
  },
);
