import { randomUUID } from "node:crypto";
import { reasonOf } from "@signalbox/agent-core";
import { openS3Objects } from "@signalbox/attachments";
import type { StoreConfig } from "@signalbox/config";
import type { ObjectStore } from "@signalbox/store";
import type { Logger } from "@signalbox/telemetry/logger";
import type { GatewayStore } from "../store.ts";

/** A prefix without objects, to try the storage with. */
const TRIAL_PREFIX = "trial/";
export const S3_REMEDY = "Check `store.blobs.s3`, its keys and the service.";

/**
 * Opens the storage for files that gateways share, if the store is shared.
 *
 * @throws Error if the storage of the configuration needs a package that is not installed
 */
export async function openObjects(
  { objects }: Pick<GatewayStore, "objects">,
  { blobs }: Pick<StoreConfig, "blobs">,
  logger: Pick<Logger, "error">,
): Promise<ObjectStore | undefined> {
  if (objects === undefined || blobs === undefined) return objects;
  const s3 = await openBucket(blobs);
  // The gateway can answer most messages without files.
  s3.list(TRIAL_PREFIX).catch((error: unknown) =>
    logger.error(
      { bucket: blobs.s3.bucket, err: reasonOf(error), remedy: S3_REMEDY },
      "files cannot be stored or read at the moment",
    ),
  );
  return s3;
}

/**
 * Stores, lists, reads and removes a small object in the bucket. Returns a description of the bucket.
 *
 * @throws Error if a step fails
 */
export async function tryBucket(blobs: NonNullable<StoreConfig["blobs"]>): Promise<string> {
  const s3 = await openBucket(blobs);
  const key = `${TRIAL_PREFIX}${randomUUID()}`;
  await s3.put(key, Buffer.from(key));
  const listed = await s3.list(key);
  const read = await new Response(await s3.open(key)).text();
  await s3.remove([key]);
  if (listed.length !== 1 || read !== key)
    throw new Error(`An object that was stored in the bucket ${blobs.s3.bucket} could not be read back.`);
  return `the bucket ${blobs.s3.bucket} can be listed, read and written`;
}

function openBucket({ s3 }: NonNullable<StoreConfig["blobs"]>): Promise<ObjectStore> {
  const { bucket, region, endpoint, pathStyle, prefix, accessKeyId, secretAccessKey } = s3;
  const hasKey = accessKeyId !== undefined && secretAccessKey !== undefined;
  return openS3Objects({
    bucket,
    region,
    endpoint,
    pathStyle,
    prefix,
    credentials: hasKey ? { accessKeyId, secretAccessKey } : undefined,
  });
}
