import { randomBytes } from "node:crypto";
import { startS3 } from "@signalbox/testkit/s3";
import { expect, it, onTestFinished } from "vitest";
import { createObjectBlobs, openS3Objects, type S3ObjectsOptions } from "../src/index.ts";

async function openBucket(options: Partial<S3ObjectsOptions> = {}) {
  const s3 = await startS3({ pageSize: 3 });
  onTestFinished(() => s3.stop());
  const { bucket, region, url: endpoint, accessKeyId, secretAccessKey } = s3;
  const credentials = { accessKeyId, secretAccessKey };
  const objects = await openS3Objects({ bucket, region, endpoint, credentials, pathStyle: true, ...options });
  return { s3, objects };
}

it("stores, reads, lists and removes objects in a bucket", async () => {
  const { s3, objects } = await openBucket({ prefix: "signalbox/" });
  const bytes = randomBytes(1_500_000);
  await objects.put("media/a b", bytes);
  for (let n = 0; n < 7; n += 1) await objects.put(`uploads/${n}`, Buffer.from("x".repeat(n)));
  const body = await objects.open("media/a b");
  expect(Buffer.from(await new Response(body).arrayBuffer()).equals(bytes)).toBe(true);
  expect(await objects.open("media/b")).toBeUndefined();
  const listed = await objects.list("uploads/");
  expect(listed.map(({ key, size }) => [key, size])).toEqual(
    Array.from({ length: 7 }, (_, n) => [`uploads/${n}`, n]),
  );
  for (const { changedAt } of listed) expect(Math.abs(changedAt - Date.now())).toBeLessThan(120_000);
  await objects.remove(listed.slice(1).map(({ key }) => key));
  await objects.remove(["uploads/9"]);
  expect(s3.keys()).toEqual(["signalbox/media/a b", "signalbox/uploads/0"]);
  expect(s3.refused).toEqual(["NoSuchKey"]);
});

it("keeps blobs in a bucket", async () => {
  const { s3, objects } = await openBucket();
  const blobs = createObjectBlobs(objects, Date.now);
  const id = await blobs.put(Buffer.from("hello"));
  expect(await blobs.put(Buffer.from("hello"))).toBe(id);
  expect(s3.keys()).toHaveLength(1);
  expect(await new Response(await blobs.open(id)).text()).toBe("hello");
});

it.each([
  [
    "SignatureDoesNotMatch",
    { credentials: { accessKeyId: "AKIAIOSFODNN7EXAMPLE", secretAccessKey: "wrong" } },
  ],
  ["InvalidAccessKeyId", { credentials: { accessKeyId: "AKIAWRONG", secretAccessKey: "wrong" } }],
  ["NoSuchBucket", { bucket: "other" }],
])("reports %s of the service", async (code, options) => {
  const { objects } = await openBucket(options);
  await expect(objects.put("a", Buffer.from("x"))).rejects.toMatchObject({ name: code });
  await expect(objects.open("a")).rejects.toMatchObject({ name: code });
  await expect(objects.list("")).rejects.toMatchObject({ name: code });
});
