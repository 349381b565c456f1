import { loadConfig } from "@signalbox/config";
import { openStore } from "@signalbox/store";
import { expect, it, onTestFinished } from "vitest";
import { createNodeReports, digestConfiguration, getLeaseKind } from "./node-reports.ts";

const SECRET = "a-secret-value";
const redact = (text: string): string => text.replaceAll(SECRET, "[secret]");

function readSettings(text: string) {
  const { config, problems } = loadConfig({ text, file: "signalbox.yaml", env: {} });
  expect(problems).toEqual([]);
  return config;
}

const digestOf = (text: string): string => digestConfiguration(readSettings(text), redact);

it("the digest of a configuration ignores what differs between nodes, and secrets", () => {
  const digest = digestOf("session: { queue: { mode: steer } }");
  expect(digest).toMatch(/^[0-9a-f]{16}$/);
  const same = [
    "gateway: { node: two, labels: [gpu], host: 127.0.0.2, port: 4748, logLevel: debug }",
    "store: { url: 'postgres://other@pooler/db' }",
  ];
  for (const place of same) expect(digestOf(`session: { queue: { mode: steer } }\n${place}`)).toBe(digest);
  expect(digestOf("session: { queue: { mode: followup } }")).not.toBe(digest);
  expect(digestOf("session: { queue: { mode: steer } }\ngateway: { maxRuns: 3 }")).not.toBe(digest);
  const withToken = (token: string): string => digestOf(`gateway: { auth: { token: '${token}' } }`);
  expect(withToken(SECRET.repeat(2))).toBe(withToken(`${SECRET}[secret]`));
});

it("a node reports itself, measures the clock and the latency, and reports an outage once", async () => {
  const at = { store: 1_000_000, node: 1_003_000 };
  const store = await openStore({ path: ":memory:", clock: () => at.store });
  onTestFinished(() => store.close());
  const warnings: string[] = [];
  const ignore = (): void => {};
  const settings = readSettings("gateway: { node: one, labels: [gpu] }");
  let isDown = false;
  const nodes = {
    ...store.nodes,
    report: (report: Parameters<typeof store.nodes.report>[0]) =>
      isDown ? Promise.reject(new Error("down")) : store.nodes.report(report),
  };
  const options = {
    store: { nodes, isShared: false },
    node: "id",
    // Only the settings are read.
    config: { derived: (compute: (config: never) => unknown) => () => compute({ settings } as never) },
    redact,
    logger: {
      debug: ignore,
      info: ignore,
      warn: (_: object, text: string) => warnings.push(text),
      error: ignore,
    },
    now: () => at.node,
  };
  const reports = createNodeReports(options as Parameters<typeof createNodeReports>[0]);
  onTestFinished(() => reports.stop());
  await reports.start();
  reports.count("takeovers");
  await expect
    .poll(() => store.nodes.list())
    .toMatchObject([{ id: "id", name: "one", labels: ["gpu"], clockSkewMs: 3_000, takeovers: 1 }]);
  isDown = true;
  await reports.start();
  expect(warnings).toEqual(["this node could not report its state"]);
});

it("leases are named after what they decide about", () => {
  expect(["seat main", "account feishu/main", "maintenance", "gateway id"].map(getLeaseKind)).toEqual([
    "agent",
    "account",
    "maintenance",
    undefined,
  ]);
});
