import { expect, it } from "vitest";
import { createUpdateCheck } from "./update-check.ts";

const DAY_MS = 24 * 3_600_000;

function open(version: string, reply: () => Response) {
  const state = { now: 1_000, enabled: true };
  const notes = new Map<string, string>();
  const requests: { url: string; headers: Headers; body: unknown }[] = [];
  const logged: string[] = [];
  const create = () =>
    createUpdateCheck({
      version,
      isEnabled: () => state.enabled,
      kv: {
        get: async (kind, key) => JSON.parse(notes.get(`${kind} ${key}`) ?? "null"),
        set: async (kind, key, value) => void notes.set(`${kind} ${key}`, JSON.stringify(value)),
      },
      logger: {
        debug: () => {},
        info: (_fields: unknown, message?: string) => void logged.push(String(message)),
      },
      now: () => state.now,
      fetch: async (url, init) => {
        requests.push({ url: String(url), headers: new Headers(init?.headers), body: init?.body });
        return reply();
      },
    });
  return { state, requests, logged, create };
}

it("reports a newer version, and asks at most once a day, across restarts", async () => {
  const { state, requests, logged, create } = open("1.2.3", () => Response.json({ version: "1.10.0" }));
  const first = create();
  await first.check();
  await first.check();
  expect(first.newer()).toBe("1.10.0");
  expect(logged).toEqual(["a newer version is available"]);
  const restarted = create();
  await restarted.check();
  expect([requests.length, restarted.newer()]).toEqual([1, "1.10.0"]);
  state.now += DAY_MS;
  await restarted.check();
  expect(requests).toHaveLength(2);
});

it("sends nothing about the installation", async () => {
  const { requests, create } = open("1.2.3", () => Response.json({ version: "1.2.3" }));
  const check = create();
  await check.check();
  const [request] = requests;
  expect(new URL(request?.url ?? "").search).toBe("");
  expect([...(request?.headers ?? [])]).toEqual([
    ["accept", "application/json"],
    ["user-agent", "signalbox"],
  ]);
  expect(request?.body).toBeUndefined();
  expect(check.newer()).toBeUndefined();
});

it("asks nothing if it is switched off, or in a checkout", async () => {
  const { state, requests, create } = open("1.2.3", () => Response.json({ version: "2.0.0" }));
  state.enabled = false;
  await create().check();
  await open("0.0.0", () => Response.json({ version: "2.0.0" }))
    .create()
    .check();
  expect(requests).toEqual([]);
});

it.each([
  ["no network", () => Response.error()],
  ["an error", () => Response.json({ version: "9.9.9" }, { status: 500 })],
  ["a page of a proxy", () => new Response("<html>")],
  ["a manifest that is too long", () => Response.json({ version: "9.9.9", padding: "x".repeat(1_000_000) })],
  ["a text in place of a version", () => Response.json({ version: "run `rm -rf` now" })],
])("ignores %s, and does not repeat the request on the same day", async (_what, reply) => {
  const { requests, create } = open("1.2.3", reply);
  const check = create();
  await check.check();
  await check.check();
  expect([requests.length, check.newer()]).toEqual([1, undefined]);
});
