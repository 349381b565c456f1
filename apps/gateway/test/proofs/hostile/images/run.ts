// `npm run prove -- hostile`, its part about generated images: a hostile image service tries to make the gateway
// request private addresses, fill its memory or wait for ever. Then each check is removed in a copy of the source, and
// an attack must succeed.
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { createGuardedFetch } from "@signalbox/tools";
import type * as Images from "../../../../src/configure/image-generation.ts";

const FOLDER = join(import.meta.dirname, "..", "..", "..", "..", "src", "configure");
const SOURCE = join(FOLDER, "image-generation.ts");
const PIECE = Buffer.alloc(1_000_000, "a");

/** Answers of the service, by the attack. */
const ATTACKS: Readonly<Record<string, (response: ServerResponse, inside: string) => void>> = {
  "an image at a private address": (response, inside) =>
    void response.end(JSON.stringify({ data: [{ url: `${inside}/secret` }] })),
  "a redirect to a private address": (response, inside) =>
    void response.writeHead(307, { location: `${inside}/secret` }).end(),
  "a response without end": (response) => {
    response.write('{"data":[{"b64_json":"');
    const send = (): void => {
      while (!response.destroyed && response.write(PIECE));
      if (!response.destroyed) response.once("drain", send);
    };
    send();
  },
};
/** Megabytes that count as damage. */
const MAX_SENT = 120;

/** Returns the damage of an attack, if any. */
async function attempt(images: typeof Images, name: string): Promise<string | undefined> {
  let insideRequests = 0;
  const inside = createServer((_, response) => {
    insideRequests += 1;
    response.end("{}");
  });
  const insideUrl = await listen(inside);
  let socketBytes = () => 0;
  const service = createServer((request, response) => {
    const { socket } = request;
    socketBytes = () => socket.bytesWritten;
    request.resume();
    ATTACKS[name]?.(response, insideUrl);
  });
  const baseUrl = await listen(service);
  const provider = { api: "openai-chat", baseUrl, apiKey: "key", models: [] };
  // The proof gives only what the generator reads.
  const config = {
    tools: { imageGeneration: { model: "evil/gpt-image-1" } },
    models: { providers: { evil: provider } },
  } as unknown as Parameters<typeof Images.createImageGenerator>[0];
  const generate = images.createImageGenerator(config, {}, { download: createGuardedFetch() });
  const request = { prompt: "a lamp", shape: "square" } as const;
  const outcome = generate?.(request, AbortSignal.timeout(20_000)).catch(() => undefined);
  const watch = setInterval(() => {
    if (socketBytes() > MAX_SENT * 2_000_000) service.closeAllConnections();
  }, 20);
  await outcome;
  clearInterval(watch);
  const sent = socketBytes() / 1_000_000;
  for (const server of [inside, service]) {
    server.closeAllConnections();
    server.close();
  }
  if (insideRequests > 0) return "a private address was requested";
  return sent > MAX_SENT ? `it accepted ${Math.round(sent)} MB` : undefined;
}

async function listen(server: ReturnType<typeof createServer>): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const CHECKS = [
  { attack: "a redirect to a private address", from: 'redirect: "error",', to: "" },
  {
    attack: "a response without end",
    from: "if (bytes > MAX_RESPONSE_BYTES)",
    to: "if (bytes > MAX_RESPONSE_BYTES * 99)",
  },
  {
    attack: "an image at a private address",
    from: "(await download(image.url, { signal })).bytes",
    to: "Buffer.from(await (await fetch(image.url)).arrayBuffer())",
  },
] as const;

let failed = false;
const images: typeof Images = await import(pathToFileURL(SOURCE).href);
for (const name of Object.keys(ATTACKS)) {
  const damage = await attempt(images, name);
  if (damage === undefined) continue;
  console.log(`  ${name}: ${damage}`);
  failed = true;
}
console.log(
  `generated images: ${Object.keys(ATTACKS).length} attacks tried${failed ? "" : ", 0 got through"}`,
);
for (const [index, { attack, from, to }] of CHECKS.entries()) {
  const copy = join(FOLDER, `.defenceless-${process.pid}-${index}.ts`);
  const text = readFileSync(SOURCE, "utf8");
  if (!text.includes(from)) throw new Error(`${SOURCE} does not have: ${from}`);
  writeFileSync(copy, text.replace(from, to));
  try {
    const damage = await attempt(await import(pathToFileURL(copy).href), attack);
    console.log(`without the check against "${attack}": ${damage === undefined ? "NOT CAUGHT" : "caught"}`);
    if (damage === undefined) failed = true;
  } finally {
    rmSync(copy, { force: true });
  }
}
process.exit(failed ? 1 : 0);
