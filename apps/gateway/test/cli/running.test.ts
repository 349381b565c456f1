import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { acquireHomeLock } from "@signalbox/store";
import { expect, it, onTestFinished } from "vitest";
import { readRefusal, runningGateway } from "../../src/cli/running.ts";

/** Nobody listens there: the port is one that only a superuser may take, and no service has. */
const NOWHERE = "http://127.0.0.1:1";

it("tells a gateway that does not answer from one that does not run", async () => {
  const home = mkdtempSync(join(tmpdir(), "signalbox-cli-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  writeFileSync(join(home, "token"), "a".repeat(43), { mode: 0o600 });
  await expect(runningGateway(home)).rejects.toThrow(`Start one with \`signalbox start --home ${home}\`.`);
  const lock = acquireHomeLock(home, { details: { url: NOWHERE } });
  onTestFinished(() => lock.release());
  await expect(runningGateway(home)).rejects.toThrow(
    `The gateway on ${home}, process ${process.pid}, does not respond at ${NOWHERE}.`,
  );
});

it("asks a gateway also where its configuration cannot be used now, and its token is elsewhere", async () => {
  const home = mkdtempSync(join(tmpdir(), "signalbox-cli-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  writeFileSync(join(home, "signalbox.yaml"), "gateway: { port: 99999 }\n");
  const lock = acquireHomeLock(home, { details: { url: NOWHERE } });
  onTestFinished(() => lock.release());
  await expect(runningGateway(home)).rejects.toThrow("it cannot be queried while the file is broken");
  writeFileSync(join(home, "token"), "a".repeat(43), { mode: 0o600 });
  await expect(runningGateway(home)).rejects.toThrow(`does not respond at ${NOWHERE}`);
});

it("says of a home of somebody else that it cannot be read", async ({ skip }) => {
  skip(process.getuid?.() === 0, "a superuser may read every home");
  const home = mkdtempSync(join(tmpdir(), "signalbox-cli-"));
  onTestFinished(() => {
    chmodSync(home, 0o700);
    rmSync(home, { recursive: true, force: true });
  });
  chmodSync(home, 0);
  await expect(runningGateway(home)).rejects.toThrow(`${home} cannot be read`);
});

it("names the reason for which a running gateway accepts no messages", async () => {
  const answer = { ready: { status: 503, body: { status: "store_unavailable", code: "disk_full" } } };
  const server = createServer((request, response) => {
    const { status, body } = request.url === "/healthz" ? { status: 200, body: {} } : answer.ready;
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === "string") throw new TypeError("The server has no port.");
  const url = `http://127.0.0.1:${address.port}`;
  const home = mkdtempSync(join(tmpdir(), "signalbox-cli-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  writeFileSync(join(home, "token"), "a".repeat(43), { mode: 0o600 });
  const lock = acquireHomeLock(home, { details: { url } });
  onTestFinished(() => lock.release());
  const { running, tell } = await runningGateway(home);
  expect(await readRefusal(running)).toBe("its disk is full");
  await expect(tell("maintenance/prune")).rejects.toThrow(
    `The gateway at ${url} answered 503 to maintenance/prune: its disk is full.`,
  );
  answer.ready = { status: 200, body: { status: "ready", code: "" } };
  expect(await readRefusal(running)).toBeUndefined();
});
