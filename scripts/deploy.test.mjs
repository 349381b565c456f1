import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { validate } from "dockerfile-utils";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { root } from "./workspace.mjs";

const read = (file) => readFileSync(join(root, file), "utf8");
const dockerfile = read("Dockerfile");

describe("the Dockerfile", () => {
  it("has nothing that a linter complains about, and one that has is told", () => {
    expect(validate(dockerfile)).toEqual([]);
    expect(validate(dockerfile.replace("USER node", "USR node")).map(({ message }) => message)).toEqual([
      "Unknown instruction: USR",
    ]);
  });

  it("copies files that exist and starts the program without flags", () => {
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(?:--\S+ )*(\S+) /gm)].map(([, path]) => path);
    expect(copied.filter((path) => !existsSync(join(root, path)))).toEqual([]);
    const [, ...started] = JSON.parse(/^ENTRYPOINT (.+)$/m.exec(dockerfile)?.[1] ?? "[]");
    expect(started).toEqual(["/gateway/dist/signalbox.js"]);
  });

  it("ends as an ordinary user, and says how its health is asked for", () => {
    expect([...dockerfile.matchAll(/^USER (\S+)/gm)].at(-1)?.[1]).toBe("node");
    expect(dockerfile).toMatch(/^HEALTHCHECK /m);
  });
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
