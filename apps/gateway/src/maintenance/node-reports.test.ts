import { loadConfig } from "@signalbox/config";
import { openStore } from "@signalbox/store";
import { expect, it, onTestFinished } from "vitest";
import { createNodeReports, digestConfiguration, getLeaseKind } from "./node-reports.ts";

function readSettings(text: string, env: Readonly<Record<string, string>> = {}) {
  const { config, problems } = loadConfig({ text, file: "signalbox.yaml", env });
  expect(problems).toEqual([]);
  return config;
}

const digestOf = (text: string): string => digestConfiguration(readSettings(text));

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
  expect(withToken("0123456789abcdef-one")).toBe(withToken("0123456789abcdef-two"));
});

it("nodes that take their names from a variable have the same digest", () => {
  const text = "gateway: { node: '${NODE}', allowedHosts: [gateway-1, gateway-2] }";
  const [one, two] = ["gateway-1", "gateway-2"].map((NODE) =>
    digestConfiguration(readSettings(text, { NODE })),
  );
  expect(one).toBe(two);
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
