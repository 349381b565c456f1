import { expect, it } from "vitest";
import { ChannelError } from "../contract/errors.ts";
import { createOwnIdentity } from "./own-identity.ts";

const never = new AbortController().signal;

function open(...answers: Promise<{ readonly id: string }>[]) {
  const time = { now: 0 };
  let requests = 0;
  const identity = createOwnIdentity({
    platform: "Echo",
    clock: { now: () => time.now },
    timeoutMs: 1_000,
    request: () => {
      const answer = answers[requests++];
      if (answer === undefined) throw new Error("there was one request too many");
      return answer;
    },
  });
  return { identity, time, requests: () => requests };
}

it("requests the identity once for all callers, and remembers it", async () => {
  const { identity, requests } = open(Promise.resolve({ id: "bot" }));
  expect(identity.known()).toBeUndefined();
  const both = await Promise.all([identity.get(never), identity.get(never)]);
  expect(both).toEqual([{ id: "bot" }, { id: "bot" }]);
  expect(await identity.get(never)).toEqual({ id: "bot" });
  expect(identity.known()).toEqual({ id: "bot" });
  expect(requests()).toBe(1);
});

it("throws the same error for three seconds, then requests again", async () => {
  const refused = Promise.reject(new ChannelError("auth", "no"));
  const { identity, time, requests } = open(refused, Promise.resolve({ id: "bot" }));
  await expect(identity.get(never)).rejects.toMatchObject({ code: "auth" });
  await expect(identity.get(never)).rejects.toMatchObject({ code: "auth" });
  expect(requests()).toBe(1);
  time.now = 3_000;
  expect(await identity.get(never)).toEqual({ id: "bot" });
});

it("lets a caller give up without affecting the others", async () => {
  const answer = Promise.withResolvers<{ readonly id: string }>();
  const { identity } = open(answer.promise);
  const patient = identity.get(never);
  await expect(identity.get(AbortSignal.abort())).rejects.toMatchObject({ code: "transient" });
  answer.resolve({ id: "bot" });
  expect(await patient).toEqual({ id: "bot" });
});
