import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { loadConfig } from "@signalbox/config";
import { describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { z } from "zod";
import { demoConfig, openWorld, TOKEN } from "../support/harness.ts";

const folder = fileURLToPath(new URL("../../../../deploy/", import.meta.url));
const read = (file: string): string => readFileSync(`${folder}${file}`, "utf8");

const ENV = {
  SIGNALBOX_HOST: "signalbox.example.org",
  SIGNALBOX_NODE: "gateway-2",
  SIGNALBOX_TOKEN: "a token that nobody can guess 0123456789",
  SIGNALBOX_DATABASE_URL: "postgres://signalbox:secret@postgres:5432/signalbox",
};

/** The variables that a text refers to as `${NAME}`. */
const variablesIn = (text: string): string[] => [
  ...new Set([...text.matchAll(/\$\{(\w+)\}/g)].map(([, name = ""]) => name)),
];

function expectSoundConfig(text: string): void {
  const { config, problems } = loadConfig({ text, file: "signalbox.yaml", env: ENV });
  expect(problems).toEqual([]);
  expect(config.gateway).toMatchObject({ host: "0.0.0.0", port: 4747, node: "gateway-2" });
  expect(config.store.url).toBe(ENV.SIGNALBOX_DATABASE_URL);
}

const composeSchema = z.object({
  services: z.record(
    z.string(),
    z.object({
      image: z.string(),
      environment: z.record(z.string(), z.string()),
      volumes: z.array(z.string()),
      stop_grace_period: z.string().optional(),
    }),
  ),
  volumes: z.record(z.string(), z.null()),
});

describe("the compose file of the cluster", () => {
  const { services, volumes } = composeSchema.parse(parse(read("cluster/compose.yaml"), { merge: true }));
  const gateways = Object.entries(services).filter(([name]) => name.startsWith("gateway-"));

  it("gives each of three gateways its own home and name, and all of them the workspaces", () => {
    expect(gateways.map(([name]) => name)).toEqual(["gateway-1", "gateway-2", "gateway-3"]);
    for (const [name, { environment, volumes: mounts, stop_grace_period: grace }] of gateways) {
      expect(environment["SIGNALBOX_NODE"]).toBe(name);
      expect(mounts).toContain(`${name}:/home/node/.signalbox`);
      expect(mounts).toContain("workspaces:/workspaces");
      expect(grace).toBe("45s");
    }
  });

  it("declares every volume, and sets every variable that the configuration needs", () => {
    const named = Object.values(services).flatMap(({ volumes: mounts }) =>
      mounts.map((mount) => mount.split(":")[0] ?? "").filter((source) => !source.startsWith(".")),
    );
    expect(Object.keys(volumes)).toEqual(expect.arrayContaining([...new Set(named)]));
    for (const [, { environment }] of gateways)
      expect(Object.keys(environment)).toEqual(
        expect.arrayContaining(variablesIn(read("cluster/signalbox.yaml"))),
      );
  });

  it("has a sound configuration, whose workspaces are on the shared volume", () => {
    expectSoundConfig(read("cluster/signalbox.yaml"));
    expect(read("cluster/signalbox.yaml")).toContain("workspaceDir: /workspaces/");
    // A volume on a folder that the image does not have would belong to root.
    expect(read("../Dockerfile")).toMatch(
      /mkdir .*\/workspaces\/main\b[\s\S]*chown -R node:node .*\/workspaces\b/,
    );
  });

  it("balances the load over the gateways at their port, and checks that they are ready", () => {
    const caddyfile = read("cluster/Caddyfile");
    const upstreams = /\{\$SIGNALBOX_UPSTREAMS:([^}]*)\}/.exec(caddyfile)?.[1]?.split(" ");
    expect(upstreams).toEqual(gateways.map(([name]) => `${name}:4747`));
    expect(caddyfile).toMatch(/health_uri \/readyz/);
    expect(caddyfile).toMatch(/respond \/metrics 404/);
  });
});

describe("the Kubernetes manifest", () => {
  const objects = parseAllDocuments(read("kubernetes/signalbox.yaml")).map((document) => {
    expect(document.errors).toEqual([]);
    return document.toJS();
  });
  const find = (kind: string) => objects.filter((object) => object.kind === kind);
  const [set] = find("StatefulSet");
  const pod = set.spec.template.spec;
  const [container] = pod.containers;

  it("has the objects that a gateway needs, with a volume for each pod", () => {
    expect(objects.map(({ kind }) => kind)).toEqual([
      "Secret",
      "ConfigMap",
      "Service",
      "Service",
      "PersistentVolumeClaim",
      "PodDisruptionBudget",
      "StatefulSet",
    ]);
    expect(set.spec.replicas).toBe(3);
    expect(find("Service").map(({ metadata }) => metadata.name)).toContain(set.spec.serviceName);
    const claims = set.spec.volumeClaimTemplates.map(
      (claim: { metadata: { name: string } }) => claim.metadata.name,
    );
    const names = [...claims, ...pod.volumes.map(({ name }: { name: string }) => name)];
    for (const { volumeMounts } of [...pod.initContainers, ...pod.containers])
      for (const { name } of volumeMounts) expect(names).toContain(name);
    expect(find("PodDisruptionBudget")[0].spec.maxUnavailable).toBe(1);
    for (const { spec } of [...find("Service"), set])
      expect(spec.selector.matchLabels ?? spec.selector).toEqual({ app: "signalbox" });
  });

  it("has a sound configuration, and every variable that it needs", () => {
    const text = find("ConfigMap")[0].data["signalbox.yaml"];
    expectSoundConfig(text);
    // A gateway does not create a workspace that the configuration names.
    const [, workspace] = /workspaceDir: (\S+)/.exec(text) ?? [];
    expect(pod.initContainers[0].command.join(" ")).toContain(`mkdir -p ${workspace}`);
    const given = [
      ...container.env.map(({ name }: { name: string }) => name),
      ...Object.keys(find("Secret")[0].stringData),
    ];
    expect(given).toEqual(expect.arrayContaining(variablesIn(text)));
  });

  it("checks health and readiness at the gateway's port, and lets runs end", () => {
    const [{ containerPort, name }] = container.ports;
    expect(containerPort).toBe(4747);
    expect(container.livenessProbe.httpGet).toEqual({ path: "/healthz", port: name });
    expect(container.readinessProbe.httpGet).toEqual({ path: "/readyz", port: name });
    expect(pod.terminationGracePeriodSeconds).toBe(50);
    expect(pod.securityContext.runAsNonRoot).toBe(true);
  });
});

/** Names of our own series and of those of the process in an expression of Prometheus. */
function seriesIn(text: string): string[] {
  const names = [...text.matchAll(/\b(?:signalbox|process)_[a-z0-9_]+/g)].map(([name]) => name);
  return [...new Set(names.map((name) => name.replace(/(?<=_seconds)_(bucket|sum|count)$/, "")))];
}

describe("alert rules and dashboard", () => {
  it("use only series that the gateway exports, and the dashboard shows all of them", async () => {
    const world = await openWorld();
    world.configure(demoConfig());
    const { url } = await world.start();
    const headers = { authorization: `Bearer ${TOKEN}` };
    const metrics = await (await fetch(`${url}/metrics`, { headers })).text();
    const exported = [...metrics.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name);
    const rules = z
      .object({ groups: z.array(z.object({ rules: z.array(z.object({ expr: z.string() })) })) })
      .parse(parse(read("monitoring/alerts.yaml")));
    const alerts = rules.groups.flatMap(({ rules: some }) => some.map(({ expr }) => expr));
    const dashboard: { panels: { targets?: { expr: string }[] }[] } = JSON.parse(
      read("monitoring/grafana-dashboard.json"),
    );
    const graphs = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
    expect(alerts.length).toBeGreaterThan(10);
    expect(graphs.length).toBeGreaterThan(30);
    for (const expr of [...alerts, ...graphs].filter((text) => !text.startsWith("up{")))
      expect({ expr, series: seriesIn(expr).filter((name) => !exported.includes(name)) }).toEqual({
        expr,
        series: [],
      });
    // Every series of ours is on the dashboard.
    const shown = seriesIn(graphs.join("\n"));
    expect(exported.filter((name) => name?.startsWith("signalbox_") && !shown.includes(name))).toEqual([]);
  });
});
