import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { connect } from "node:net";
import { fileURLToPath } from "node:url";
import type { Browser } from "playwright-core";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { launch, openContext, whyNoBrowser } from "../support/chromium.ts";
import { demoConfig, openWorld, TOKEN } from "../support/harness.ts";

const missing = whyNoBrowser();
if (missing !== undefined) console.log(`skipped: ${missing}`);

/** A name that a browser leads to its own machine, as a site's own name leads to its server. */
const NAME = "site.localhost";

/** What the site's page does: signs in once, and asks an agent. */
const PAGE = `
import { createClient } from "@signalbox/client";
const client = createClient({ baseUrl: location.origin });
window.ask = async (text, token) => {
  if (token !== undefined) await client.login(token);
  let said = "";
  for await (const frame of client.chat("main", "on-the-site", text))
    if (frame.type === "text.delta") said += frame.delta;
  return said;
};
`;

/** The page's script in one file, as the build of a site makes it. */
async function bundled(): Promise<string> {
  const entry = "page.js";
  const bundle = await rolldown({
    input: entry,
    cwd: fileURLToPath(new URL("../..", import.meta.url)),
    platform: "browser",
    plugins: [
      {
        name: "page",
        resolveId: (id) => (id === entry ? `\0${entry}` : null),
        load: (id) => (id === `\0${entry}` ? PAGE : null),
      },
    ],
  });
  const { output } = await bundle.generate({ format: "esm", codeSplitting: false });
  await bundle.close();
  return output[0].code;
}

/** A site with a page of its own, which passes the gateway's paths on. */
async function startSite(script: string, gateway: URL): Promise<string> {
  function pass(incoming: IncomingMessage, answer: ServerResponse): void {
    const { method, url, headers } = incoming;
    const onward = request(new URL(url ?? "/", gateway), { method, headers }, (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(answer);
    });
    onward.on("error", () => answer.destroy());
    incoming.pipe(onward);
  }
  const server = createServer((incoming, answer) => {
    if (incoming.url?.startsWith("/api/")) return pass(incoming, answer);
    const isScript = incoming.url === "/page.js";
    answer.writeHead(200, { "content-type": isScript ? "text/javascript" : "text/html" });
    answer.end(isScript ? script : '<!doctype html><script type="module" src="/page.js"></script>');
  });
  server.on("upgrade", ({ url, rawHeaders }, socket, head) => {
    const onward = connect(Number(gateway.port), gateway.hostname, () => {
      const lines = rawHeaders.flatMap((name, at) => (at % 2 === 0 ? `${name}: ${rawHeaders[at + 1]}` : []));
      onward.write(`${[`GET ${url} HTTP/1.1`, ...lines].join("\r\n")}\r\n\r\n`);
      onward.write(head);
      onward.pipe(socket).pipe(onward);
    });
    for (const [one, other] of [[onward, socket] as const, [socket, onward] as const])
      one.on("error", () => other.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return `http://${NAME}:${typeof address === "object" ? address?.port : ""}`;
}

describe.skipIf(missing !== undefined)("a page of the operator's own site", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser?.close());

  /** The site's page in a browser, and the token of somebody who may write there. */
  async function openPage(allowedHosts: readonly string[]) {
    const world = await openWorld();
    world.configure(demoConfig({ gateway: { port: 0, auth: { token: TOKEN }, allowedHosts } }));
    const { url } = await world.start();
    const { token } = JSON.parse((await world.command(["tokens", "add", "anna", "--json"])).out);
    const site = await startSite(await bundled(), new URL(url));
    const context = await openContext(browser);
    onTestFinished(() => context.close());
    const page = await context.newPage();
    await page.goto(site);
    const ask = (...said: [text: string, token?: string]): Promise<unknown> =>
      page.evaluate(`ask(...${JSON.stringify(said)})`);
    return { page, ask, token: String(token) };
  }

  it("signs people in and sends messages under an allowed host name", async () => {
    const { page, ask, token } = await openPage([NAME]);
    expect(await ask("hello", token)).not.toBe("");
    await page.reload();
    expect(await ask("hello again"), "the session outlasts the page").not.toBe("");
    expect(await page.evaluate("document.cookie")).toBe("");
  });

  it("is rejected under any other host name", async () => {
    const { ask, token } = await openPage([]);
    await expect(ask("hello", token)).rejects.toThrow("The request is for another host");
  });
});
