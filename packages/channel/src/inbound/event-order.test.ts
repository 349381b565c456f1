import { expect, it } from "vitest";
import { createOrder } from "../index.ts";

it("settles promises of a key in order, even if one of them fails", async () => {
  const order = createOrder();
  const done: string[] = [];
  const noting = (key: string, name: string, ready: Promise<unknown>) =>
    order.next(key, ready).then(
      () => done.push(name),
      () => done.push(`${name} failed`),
    );
  const first = Promise.withResolvers<void>();
  const all = [
    noting("a", "first", first.promise),
    noting("a", "second", Promise.reject(new Error("no"))),
    noting("a", "third", Promise.resolve()),
  ];
  await noting("b", "elsewhere", Promise.resolve());
  first.resolve();
  await Promise.all(all);
  expect(done).toEqual(["elsewhere", "first", "second failed", "third"]);
});
