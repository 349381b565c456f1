import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { validate } from "dockerfile-utils";
import { describe, expect, it, onTestFinished } from "vitest";
import { parse } from "yaml";
import { root } from "./workspace.mjs";

const read = (file) => readFileSync(join(root, file), "utf8");
const dockerfile = read("Dockerfile");

describe("the Dockerfile", () => {
  it("has nothing that a linter complains about, and one that has is told", () => {
    expect(validate(dockerfile)).toEqual([]);
    expect(dockerfile).toContain("\nENV SIGNALBOX_IMAGE=1\n");
    expect(validate(dockerfile.replace("USER node", "USR node")).map(({ message }) => message)).toEqual([
      "Unknown instruction: USR",
    ]);
  });

  it("copies files that exist and starts the program without flags", () => {
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(?:--\S+ )*(\S+) (\S+)/gm)];
    expect(copied.filter(([, path]) => !existsSync(join(root, path)))).toEqual([]);
    const [started] = JSON.parse(/^ENTRYPOINT (.+)$/m.exec(dockerfile)?.[1] ?? "[]");
    expect(copied.find(([, , to]) => to.endsWith(`/${started}`))?.[1]).toBe("deploy/entrypoint.sh");
    expect(read("deploy/entrypoint.sh")).toContain('exec node /gateway/dist/signalbox.js "$@"\n');
  });

  it("ends as an ordinary user, and says how its health is asked for", () => {
    expect([...dockerfile.matchAll(/^USER (\S+)/gm)].at(-1)?.[1]).toBe("node");
    expect(dockerfile).toMatch(/^HEALTHCHECK /m);
  });
});

it("the entry point gives a new home a configuration, and leaves an existing one alone", () => {
  const dir = mkdtempSync(join(tmpdir(), "signalbox-entrypoint-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  // The paths of the image, in a folder of the test.
  const script = read("deploy/entrypoint.sh")
    .replaceAll("/usr/share/signalbox/", `${join(root, "deploy")}/`)
    .replace("exec node /gateway/dist/signalbox.js", "echo");
  const run = (home) =>
    execFileSync("sh", ["-c", script, "entrypoint", "start"], {
      env: { ...process.env, SIGNALBOX_HOME: home },
      encoding: "utf8",
    });
  const fresh = join(dir, "fresh");
  expect(run(fresh)).toBe("start\n");
  expect(readFileSync(join(fresh, "signalbox.yaml"), "utf8")).toBe(read("deploy/signalbox.yaml"));
  expect(statSync(join(fresh, "signalbox.yaml")).mode & 0o777).toBe(0o600);
  const mounted = join(dir, "mounted");
  mkdirSync(mounted);
  writeFileSync(join(mounted, "signalbox.json"), "{}");
  run(mounted);
  expect(readdirSync(mounted)).toEqual(["signalbox.json"]);
});

it("the compose file builds that, keeps the home, and opens the port to this machine alone", () => {
  const { services, volumes } = parse(read("compose.yaml"));
  const { build, ports, volumes: mounted } = services.signalbox;
  expect(Object.keys(build.args).filter((name) => !dockerfile.includes(`ARG ${name}=`))).toEqual([]);
  expect(ports).toEqual(["127.0.0.1:4747:4747"]);
  const [name, folder] = mounted[0].split(":");
  expect(volumes).toHaveProperty(name);
  expect(dockerfile).toContain(`VOLUME ${folder}`);
});
