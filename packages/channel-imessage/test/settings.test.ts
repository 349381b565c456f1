import { expect, it } from "vitest";
import { imessage } from "../src/index.ts";

async function validate(settings: object) {
  return imessage.config["~standard"].validate(settings);
}

it("settings are a command, as text or a list, or the address and password of BlueBubbles", async () => {
  expect(await validate({ command: "ssh my-mac imsg rpc" })).toMatchObject({
    value: { command: ["ssh", "my-mac", "imsg", "rpc"] },
  });
  expect(await validate({ command: ["imsg", "rpc"] })).toMatchObject({ value: { command: ["imsg", "rpc"] } });
  const server = { baseUrl: "http://mac.local:1234/", password: "secret" };
  expect(await validate(server)).toMatchObject({
    value: { baseUrl: "http://mac.local:1234", password: "secret" },
  });
});

it("wrong settings name the field and the remedy", async () => {
  const issues = async (settings: object) =>
    (await validate(settings)).issues?.map(({ message }) => message) ?? [];
  expect(await issues({})).toEqual([expect.stringContaining("command: [ssh, my-mac, imsg, rpc]")]);
  expect(await issues({ baseUrl: "http://mac.local" })).toEqual([
    expect.stringMatching(/^password is missing/),
  ]);
  expect(await issues({ command: "imsg rpc", baseUrl: "http://mac.local", password: "x" })).toEqual([
    expect.stringContaining("not both"),
  ]);
  expect(await issues({ baseUrl: "http://mac.local/?password=secret", password: "x" })).toEqual([
    expect.stringContaining("must not contain a password"),
  ]);
});
